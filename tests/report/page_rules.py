"""What must hold of every page, whatever it is about."""

import re
from collections import Counter
from html.parser import HTMLParser

BLOCKS = ("p", "li", "h1", "h2", "h3", "h4", "summary")
SHORT = 6  # words; shorter sentences are labels


class Reader(HTMLParser):
    """Collects the blocks of text, the links and the anchors of a page."""

    def __init__(self):
        super().__init__()
        self.blocks, self.links, self.anchors, self.open = [], [], [], []
        self.title = ""

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if tag == "a" and "href" in given else []
        if tag in (*BLOCKS, "title"):
            self.open.append([tag, ""])

    def handle_endtag(self, tag):
        if self.open and self.open[-1][0] == tag:
            name, text = self.open.pop()
            if name == "title":
                self.title = text
            else:
                self.blocks.append((name, " ".join(text.split())))

    def handle_data(self, data):
        if self.open:
            self.open[-1][1] += data


def read(path):
    reader = Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader


def repeated_sentences(path):
    """Return the sentences that a page says more than once."""
    sentences = []
    for _, text in (block for block in read(path).blocks if block[0] in ("p", "li")):
        sentences += [s for s in re.split(r"(?<=[.?!]) ", text) if len(s.split()) >= SHORT]
    return [sentence for sentence, count in Counter(sentences).items() if count > 1]


def check_page(path, about):
    """Check title, navigation, the link past it, and that nothing is said twice."""
    page = read(path)
    (heading,) = [text for tag, text in page.blocks if tag == "h1"]
    assert about in heading
    assert page.title == f"{heading} – halfseen"
    assert page.links[0] == "#main"
    assert len(page.links) > 2
    assert len(page.anchors) == len(set(page.anchors))
    for link in page.links:
        assert link.removeprefix("#") in page.anchors, link
    twice = repeated_sentences(path)
    assert not twice, twice
