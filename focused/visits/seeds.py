"""What a critic learns from seeds, kept with the job, so that all starts and all workers know it."""

from __future__ import annotations

import json
from functools import partial

from focused.critics.base import Critic
from focused.frontier.store import FrontierStore
from focused.pages.page import Page

CRITIC_STATE = "critic state"
"""The note of a job that holds what its critic has learned from seeds."""


def restore_critic(critic: Critic, store: FrontierStore) -> None:
    """Have a critic know what it has learned from seeds, in earlier starts or by other workers."""
    state = store.noted(CRITIC_STATE)
    if state is not None:
        critic.restore(json.loads(state))


def learn_from_seed(critic: Critic, store: FrontierStore, seed: Page) -> None:
    """Show the critic a seed page; what it learns from it is kept with the job."""
    store.revise(CRITIC_STATE, partial(_learn_after, critic, seed))


def _learn_after(critic: Critic, seed: Page, others: str | None) -> str | None:
    """Learn from a seed after those that other workers have shown their critic."""
    if others is not None:
        critic.restore(json.loads(others))
    return json.dumps(critic.state()) if critic.learn_from_seed(seed) else None
