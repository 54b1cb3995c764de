"""Parts of a crawl in which all names lead to loopback, and loopback is as good as any other address."""

from scrapy import Spider
from scrapy.resolver import CachingThreadedResolver
from twisted.internet.defer import Deferred, succeed

from focused.scheduling.neighbours import neighbours_of
from focused.scheduling.scheduler import FrontierScheduler

HOSTILE, *GOOD = (f"127.0.0.{n}" for n in range(1, 6))


class Resolver(CachingThreadedResolver):
    """Knows any name: those of good hosts at addresses of their own, all others at one."""

    def getHostByName(self, name: str, timeout: object = ()) -> Deferred[str]:  # noqa: N802 - Twisted's name
        number = sum(map(int, filter(str.isdigit, name)))
        return succeed(GOOD[number] if "good" in name else HOSTILE)


class Scheduler(FrontierScheduler):
    """Has ceilings above inner addresses, too."""

    def open(self, spider: Spider) -> None:
        super().open(spider)
        self.neighbours = neighbours_of(self.crawler, is_exempt=lambda _: False)
