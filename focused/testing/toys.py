"""Small pages of three kinds, to teach critics and to try them on."""

from __future__ import annotations

from focused.pages.page import Page, page_from_html

BIRDS = [
    "The owl is a bird of prey. Owls hunt mice at night, and the owl sees well in the dark. Feathers make it silent.",
    "Penguins are birds that swim. The penguin has feathers and a beak, and the bird lays one egg on the ice.",
    "A nest of twigs: the robin is a small bird with a red breast. Birds such as the robin sing and lay eggs.",
    "The eagle is a large bird of prey with a hooked beak. Eagles build a nest on rocks, and birds fear them.",
]
STARS = [
    "The sun is a star. A star is a ball of gas, and its light travels through space to the planet.",
    "A telescope shows the moons of the planet Jupiter, and the light of stars in a distant galaxy.",
    "The galaxy holds billions of stars. Every star may have a planet, and astronomers look at its light.",
    "Comets come near the sun; astronomers with a telescope see the tail of gas, and the planet behind it.",
]
MEALS = [
    "Boil the potatoes in salt water, fry the onions in butter, and serve the soup hot with bread.",
    "A cake of flour, butter, sugar and eggs: bake it for an hour in the oven, and serve it with cream.",
    "Cut the tomatoes, add oil, salt and pepper, and cook the sauce for the pasta until it is thick.",
    "Bread needs flour, water, salt and yeast. Knead the dough, let it rise, and bake it in a hot oven.",
]
UNUSUAL = ["", "qqqq wwww zzzz", "日本語 のページ です", "bird " * 20_000, "0 1 2", "\x1e \x00"]
LINKS = (
    "<h1>Birds</h1><p>the penguin <a href=/penguin>penguin page</a> swims</p>"
    "<ul><li><a href=/tax>tax</a> law<li><a href=/empty><img src=x></a></ul><a href=/penguin>again</a>"
)
"""A page with four links: two to one page, and one without text."""
POOR = ["", "no links at all", "<a href=/x></a>", "<a href=/x><a href=/y>", "<frame src=/f>"]


def page(text: str, *, title: str = "", url: str = "http://a.example/") -> Page:
    """A page of one paragraph."""
    head = f"<title>{title}</title>" if title else ""
    return page_from_html(f"<html><head>{head}</head><body><p>{text}</p></body></html>", url)


def page_of_links(body: str = LINKS, url: str = "http://site.example/") -> Page:
    """A page with links."""
    return page_from_html(f"<body>{body}</body>", url)


def examples(*, negatives: bool = True) -> tuple[list[Page], list[str]]:
    """Pages and classes: birds and stars of a tree ``nature``, and meals."""
    kinds = {"nature.birds": BIRDS, "nature.stars": STARS} | ({"meals": MEALS} if negatives else {})
    pairs = [(page(text), name) for name, texts in kinds.items() for text in texts]
    return [one for one, _ in pairs], [name for _, name in pairs]
