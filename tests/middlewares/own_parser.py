"""A parser of somebody's own for robots.txt, as ``ROBOTSTXT_PARSER`` names it: says what it is given."""

import logging
import threading

from scrapy.robotstxt import RobotParser


class OwnParser(RobotParser):
    def __init__(self, body):
        self.body = body
        is_main = threading.current_thread() is threading.main_thread()
        logging.warning("reads %d bytes on %s thread", len(body), "the main" if is_main else "another")

    @classmethod
    def from_crawler(cls, crawler, robotstxt_body):
        return cls(robotstxt_body)

    def allowed(self, url, user_agent):
        logging.warning("asked for %s", user_agent)
        return b"User-agent: somebody\nDisallow: /\n" not in self.body
