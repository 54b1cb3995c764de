# A worker of a crawl, and every other command of the project: docs/deploy.md, "Containers".
# All packages come as wheels: nothing is compiled, so no compiler is needed or left behind.
FROM python:3.11-slim-bookworm

RUN useradd --uid 10001 --home-dir /var/lib/focused --shell /usr/sbin/nologin focused \
    && install --directory --owner focused --group focused \
        /var/lib/focused /var/lib/focused/items /var/lib/focused/models

COPY requirements.txt /srv/focused/
RUN pip install --no-cache-dir --only-binary=:all: --require-hashes --requirement /srv/focused/requirements.txt

COPY focused /srv/focused/focused/
RUN python -m compileall -q /srv/focused

ENV PYTHONPATH=/srv/focused \
    SCRAPY_SETTINGS_MODULE=focused.settings \
    FOCUSED_MODELS=/var/lib/focused/models
USER focused
WORKDIR /var/lib/focused
# No HEALTHCHECK: a worker that hangs is taken for dead by the others, which its container cannot know.
ENTRYPOINT ["scrapy"]
