"""The table of contents of the crawler: which component stands where, and how politely it crawls.

Our own settings, with a line on each, are in `focused.defaults`.
"""

import os

from focused.extras import is_installed

BOT_NAME = "focused"
SPIDER_MODULES = ["focused.spiders"]
NEWSPIDER_MODULE = "focused.spiders"
COMMANDS_MODULE = "focused.commands"
ADDONS = {"focused.Addon": 500}
LOG_VERSIONS: list[str] = []

# Who we are. Add an address of yours: people whose sites are crawled should know whom to ask. The first word is what a
# robots.txt calls us.
USER_AGENT = "Focused/0.1 (a topical crawler that obeys robots.txt)"

# Politeness.
ROBOTSTXT_OBEY = True
ROBOTSTXT_PARSER = "focused.safety.robots_txt.RobotsTxt"
DOWNLOAD_DELAY = 1.0
DOWNLOAD_DELAY_JITTER = 0.0
CONCURRENT_REQUESTS = 16
CONCURRENT_REQUESTS_PER_DOMAIN = 1
DOWNLOAD_TIMEOUT = 30
RETRY_TIMES = 2
# 429 and 503 are left to BackoffMiddleware, which waits as long as the host asks.
RETRY_HTTP_CODES = [500, 502, 504, 522, 524, 408]
# How requests end is counted; failures are logged once for each kind.
RETRY_GIVE_UP_LOG_LEVEL = "DEBUG"
REFERER_ENABLED = False
# Pages as a stranger sees them: no sessions to be trapped in. (With cookies on, Scrapy asks for the list of public
# suffixes over the network.)
COOKIES_ENABLED = False

# Pages are small; what is larger is a trap or a film.
DOWNLOAD_MAXSIZE = 10 * 1024 * 1024
DOWNLOAD_WARNSIZE = 5 * 1024 * 1024

# Nothing that takes commands from a port.
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False

# Headers are bounded, and those with invalid names are skipped.
DOWNLOAD_HANDLERS = dict.fromkeys(("http", "https"), "focused.safety.handler.LenientHandler")

# Whole lines on a full disk, which is told once.
FEED_STORAGES = {
    "": "focused.outputs.ItemFileStorage",
    "file": "focused.outputs.ItemFileStorage",
    "stdout": "focused.outputs.ItemStdoutStorage",
}

SCHEDULER = "focused.scheduling.scheduler.FrontierScheduler"

DOWNLOADER_MIDDLEWARES = {
    "scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": None,
    "focused.middlewares.log.LogMiddleware": 5,
    "focused.middlewares.judge.JudgeMiddleware": 10,
    "focused.middlewares.robots.RobotsMiddleware": 100,
    "focused.middlewares.html_only.HtmlOnlyMiddleware": 540,
    "focused.middlewares.backoff.BackoffMiddleware": 560,
    "focused.middlewares.charset.CharsetMiddleware": 585,
    "scrapy.downloadermiddlewares.httpcompression.HttpCompressionMiddleware": None,
    "focused.middlewares.unpacking.UnpackingMiddleware": 590,
    "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware": None,
    "focused.middlewares.redirect.PlainMetaRefreshMiddleware": 580,
    "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": None,
    "focused.middlewares.redirect.PlainRedirectMiddleware": 600,
    "focused.middlewares.inner.InnerAddressMiddleware": 760,
    "focused.middlewares.neighbours.NeighboursMiddleware": 770,
    "focused.middlewares.archive.ArchiveMiddleware": 890,
}

SPIDER_MIDDLEWARES = {
    "focused.middlewares.teaching.TeachingMiddleware": 5,
    "focused.middlewares.prioritizer.PrioritizerMiddleware": 10,
}

ITEM_PIPELINES = {
    "focused.pipelines.critic.CriticPipeline": 100,
    "focused.pipelines.lessons.LessonsPipeline": 200,
    "focused.pipelines.training.TrainingPipeline": 300,
    "focused.pipelines.output.OutputPipeline": 900,
}

EXTENSIONS = {
    "scrapy.extensions.logstats.LogStats": None,
    # It unpickles a file of the job folder: whoever can write one could run code.
    "scrapy.extensions.spiderstate.SpiderState": None,
    "focused.extensions.seeds.SeedsExtension": 50,
    "focused.extensions.inbox.InboxExtension": 60,
    "focused.extensions.now.NowExtension": 70,
    "focused.extensions.limits.LimitsExtension": 100,
    "focused.extensions.failures.FailuresExtension": 150,
    "focused.extensions.progress.ProgressExtension": 200,
    "focused.extensions.report.ReportExtension": 300,
    "focused.extensions.stats_file.StatsFileExtension": 900,
}

ASYNCIO_EVENT_LOOP = "uvloop.Loop" if is_installed("uvloop") else None
LOG_LEVEL = "INFO"
FEED_EXPORT_ENCODING = "utf-8"

# Trained critics lie where they lie for all projects of a machine.
if os.environ.get("FOCUSED_MODELS"):
    FOCUSED_MODELS = os.environ["FOCUSED_MODELS"]
