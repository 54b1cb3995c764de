"""Checks for tests: what every critic, prioritizer and store must keep."""

from focused.testing.critic_checks import check_critic
from focused.testing.prioritizer_checks import check_prioritizer
from focused.testing.store_checks import check_store

__all__ = ["check_critic", "check_prioritizer", "check_store"]
