"""Stars and soups, and titles that would do harm if they were more than text."""

from __future__ import annotations

HUB = "http://hub.example/"
PAGES, ALL = 30, 60
HOSTILE = '<img src=x onerror="document.title=1">\u202e\u2066 =1+1 " \' & </title><script>alert(1)</script>'
FORMULA = '=HYPERLINK("http://far.example/","star")'
TOPIC = 'name = "stars"\nkeywords = ["star", "galaxy", "telescope"]\nseeds = ["http://hub.example/"]\n'
_STAR = (
    "<title>{1}</title><p>A star of the galaxy, seen through a telescope. The telescope shows star after star, and a "
    "galaxy behind each star. Galaxy and telescope: number {0} w{0} v{2}.</p>"
)
_SOUP = "<title>Soup {0}</title><p>Fry the onion in butter and stir the soup. Number {0} w{0} v{1}.</p>"


def small_site() -> dict[str, str]:
    links = "".join(
        f"<li>{'a star' if n % 2 else 'a soup'} <a href={HUB}{n}>number {n}</a>" for n in reversed(range(ALL))
    )
    titles = {51: HOSTILE.replace("&", "&amp;").replace("<", "&lt;"), 57: FORMULA}
    pages = {
        f"{HUB}{n}": _STAR.format(n, titles.get(n, f"Star {n}"), n % 7) if n % 2 else _SOUP.format(n, n % 7)
        for n in range(ALL)
    }
    return {HUB: f"<title>Stars and soups</title><p>A star and a soup.</p>{links}", **pages}
