"""``scrapy steer JOBDIR|redis://… --pause``: order a crawl to do something, while it runs, rests or has ended."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from focused.running.command import CrawlCommand

if TYPE_CHECKING:
    from focused.frontier.inbox import Order
    from focused.frontier.steering import Verb
    from focused.problems import Problems
    from focused.report.reader import CrawlReader

# What is to hold before the crawl goes on is told before that.
_WITH_VALUES: tuple[tuple[Verb, str, str], ...] = (
    ("limit", "NAME=VALUE", "set a limit: pages, found, dry or per_host, with the values of the crawl's arguments"),
    ("seed", "URL", "fetch these pages first, even if no link leads there"),
    ("drop", "PATTERN", "take back what was said of a pattern"),
    ("leave-out", "PATTERN", "fetch nothing more of a host and its subdomains, or of addresses (* is anything)"),
    ("prefer", "PATTERN", "fetch links to these hosts or addresses before others of similar worth"),
)
_ALONE: tuple[tuple[Verb, str], ...] = (
    ("pause", "fetch nothing more; the crawl does not end, and goes on learning"),
    ("go-on", "go on with a crawl that is paused"),
    ("end", "end the crawl in order; the same command goes on with it"),
)


class Command(CrawlCommand):
    """Order a crawl to pause, go on or end, to keep to other limits, to go elsewhere or not to."""

    usage = "[options] JOBDIR | redis://HOST:PORT/DB"
    summary = "Steer a crawl, also while it runs: pause, limits, seeds, hosts and addresses to prefer or leave out"
    details = (
        "A running crawl takes orders in within two seconds, one that rests when it goes on. They hold until others "
        "take their place, also when the crawl is started again."
    )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        for verb, words in _ALONE:
            parser.add_argument(f"--{verb}", dest=verb, action="store_true", help=words)
        for verb, metavar, words in _WITH_VALUES:
            parser.add_argument(
                f"--{verb}", dest=verb, nargs="+", action="extend", metavar=metavar, default=[], help=words
            )
        parser.add_argument("--list", action="store_true", help="list the orders that count")

    def execute(self, args: list[str], opts: argparse.Namespace) -> None:
        place = self.place(args)
        orders = _orders(opts)
        if not (orders or opts.list):
            names = ", ".join(f"--{verb}" for verb, *_ in (*_ALONE, *_WITH_VALUES))
            raise UsageError(f"give an order ({names}), or --list")
        with self.open([place], opts) as reader:
            if orders:
                _tell(reader, orders)
            if opts.list:
                _list(reader)


def _orders(opts: argparse.Namespace) -> list[Order]:
    """All orders that are given; one mistake, and none is noted."""
    from focused.problems import Problems, ProblemsError

    problems = Problems()
    given = vars(opts)
    alone = [verb for verb, _ in _ALONE if given[verb]]
    if len(alone) > 1:
        problems.add(" ".join(f"--{verb}" for verb in alone), "they contradict one another: give one of them")
    orders = [_to_order(verb, text, problems) for verb, *_ in _WITH_VALUES for text in given[verb]]
    orders += [_to_order(verb, "", problems) for verb in alone]
    problems.raise_as(ProblemsError)
    return [order for order in orders if order is not None]


def _to_order(verb: Verb, text: str, problems: Problems) -> Order | None:
    from focused.report.orders import make_order

    try:
        return make_order(verb, text)
    except ValueError as error:
        problems.add(f"--{verb}", str(error))
        return None


def _tell(reader: CrawlReader, orders: list[Order]) -> None:
    from focused.report.orders import check_orders
    from focused.report.text import counted

    # A crawl of another version is refused by that, before anything is noted.
    is_running = reader.is_running()
    check_orders(reader, orders, is_running=is_running)
    reader.inbox.append(orders)
    when = "The crawl is running and takes them in now" if is_running else "They hold when the crawl goes on"
    print(f"{counted(len(orders), 'order')} noted. {when}.")


def _list(reader: CrawlReader) -> None:
    from focused.report.marks import unread_orders
    from focused.report.text import short

    steering = reader.steering()
    lines = [(order, "") for order in steering.in_words()]
    lines += [(order, "\t(not done: it cannot be, where this crawl runs)") for order in steering.not_done]
    lines += [(f"{one.verb} {one.value}".strip(), "\t(not taken in yet)") for one in unread_orders(reader)]
    for order, note in lines:
        print(f"{short(order, 2_100)}{note}")
    if not lines:
        print("No order counts")
