"""Orders as a user gives them, checked against how the crawl stands before they are noted."""

from __future__ import annotations

from collections.abc import Sequence

from focused.frontier.inbox import Order
from focused.frontier.steering import OrderRefused, Verb, to_order_value
from focused.problems import Problems, ProblemsError, did_you_mean
from focused.report.marks import steering_told
from focused.report.reader import CrawlReader
from focused.report.text import short


def make_order(verb: Verb, text: str) -> Order:
    """An order, with what goes with it normalised; ValueError if that is wrong."""
    return Order(verb=verb, value=to_order_value(verb, text))


def check_orders(reader: CrawlReader, orders: Sequence[Order], *, is_running: bool) -> None:
    """ValueError if an order would come to nothing."""
    problems, steering = Problems(), steering_told(reader)
    for order in orders:
        patterns = (*steering.left_out, *steering.preferred, *(one.partition(" ")[2] for one in steering.not_done))
        if order.verb == "drop" and order.value not in patterns:
            there = f" (there are {short(', '.join(patterns), 500)})" if patterns else ": no pattern counts"
            problems.add("--drop", f"{order.value!r} does not count{did_you_mean(order.value, patterns)}{there}")
        if order.verb == "end" and not is_running:
            problems.add("--end", f"the crawl of {reader.where} is not running, so there is nothing to end")
        try:
            steering = steering.after(order.verb, order.value)
        except OrderRefused as error:
            problems.add(f"--{order.verb}", f"{order.value!r}: {error}")
    problems.raise_as(ProblemsError)
