"""Reading HTML: what becomes a word, a heading, a block, a link."""

from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scrapy.http import HtmlResponse

from treasure.core.paragraphs import heading_table
from treasure.extract import decode, read_page
from treasure.pages import Span

URL = "http://host.test/dir/page.html"


def read(html):
    return read_page(URL, html)


def test_words_start_with_the_title_and_follow_the_text():
    page = read("<title>A Title</title><body><p>Some <b>b</b>old words</p>")
    assert page.words == ["a", "title", "some", "bold", "words"]
    assert page.title == "A Title"
    assert page.text(page.title_span) == "a title"


def test_words_are_found_where_the_reading_found_them():
    page = read("<title>A title</title><p>Über - <b>al</b>les &amp; <a href=x>„more“</a>, more</p>")
    for start, stop in combinations(range(page.terms.size + 1), 2):
        span = Span(start, stop)
        assert page.text(span) == replace(page, places=None).text(span)
        assert page.text(span).split() == page.words[start:stop]


def test_paragraph_holds_its_links_and_their_contexts():
    words = " ".join(f"w{n}" for n in range(30))
    page = read(f"<p>{words} <a href='x.html'>the link</a> {words}</p><p>other</p>")
    (link,) = page.links
    assert link.url == "http://host.test/dir/x.html"
    assert page.text(link.anchor) == "the link"
    context = page.text(page.context(link))
    assert context.startswith("w18 ") and context.endswith(" w11")
    assert "other" not in context


def test_a_list_item_knows_its_whole_list():
    page = read("<p>before</p><ul><li><a href=a>one</a></li><li><a href=b>two</a></li></ul>after")
    first = page.blocks[page.links[0].block]
    assert first.kind == "item"
    assert page.text(first.span) == "one"
    assert page.text(first.whole) == "one two"


def test_headings_and_the_sections_they_open():
    page = read(
        "<h1>Main</h1><h2>Part</h2><h3>Detail</h3><p>text <a href=x>x</a></p>"
        "<h2>Other</h2><p><a href=y>y</a></p>"
    )
    inner, outer = (page.blocks[link.block] for link in page.links)
    assert page.text(page.main_heading) == "main"
    table = heading_table(page.headings, page.main_heading).tolist()
    assert Span(*table[-1][:2]) == page.main_heading

    def headings(block):
        found, heading = [], block.heading
        while heading >= 0:
            start, stop, heading = table[heading]
            found.append(page.text(Span(start, stop)))
        return found

    assert headings(inner) == ["detail", "part", "main"]
    assert headings(outer) == ["other", "main"]


def test_role_heading_counts_as_heading():
    page = read(
        "<div role=heading aria-level=2>Spoken</div><p>text</p>"
        "<span role=heading aria-level=4>Inline</span> more <b>W</b>ords"
    )
    assert [(h.level, h.text) for h in page.headings] == [(2, "spoken"), (4, "inline")]
    assert page.words == ["spoken", "text", "inline", "more", "words"]


def test_the_title_stands_in_for_a_missing_main_heading():
    page = read("<title>Only title</title><p>text</p>")
    assert page.text(page.main_heading) == "only title"


@pytest.mark.parametrize(
    "wrapper",
    ["<nav>{}</nav>", "<div class='sidebar left'>{}</div>", "<div id=footer>{}</div>",
     "<div role=navigation>{}</div>", "<footer>{}</footer>"],
)  # fmt: skip
def test_navigation_is_boilerplate(wrapper):
    menu = wrapper.format("<a href=m>Menu entry</a>")
    page = read(f"{menu}<p>{'real text ' * 20}<a href=r>read</a></p>")
    flags = {link.anchor_text: page.blocks[link.block].boilerplate for link in page.links}
    assert flags == {"Menu entry": True, "read": False}
    assert "menu entry" not in page.main_text.lower()


def test_a_page_that_is_all_menu_is_no_boilerplate():
    page = read("<div class=menu><p>everything is here</p></div>")
    assert not any(block.boilerplate for block in page.blocks)


def test_an_anchor_around_blocks_is_one_link_with_one_block():
    page = read("<a href=card><h3>Head</h3><p>Teaser</p></a><p>next</p>")
    (link,) = page.links
    assert page.text(link.anchor) == "head teaser"
    assert [page.text(block.span) for block in page.blocks] == ["head teaser", "next"]


def test_image_links_speak_through_alt_and_title():
    page = read("<a href=1><img alt='A picture'></a> <a href=2 title='Said elsewhere'><img></a>")
    assert [link.anchor_text for link in page.links] == ["A picture", "Said elsewhere"]


@pytest.mark.parametrize(
    "href", ["javascript:x()", "mailto:a@b", "#top", "", "tel:1", "data:text/html,x", "ftp://h/x"]
)
def test_what_cannot_be_crawled_is_no_link(href):
    assert read(f"<a href='{href}'>x</a>").links == []


def test_links_of_one_block_are_distinct():
    page = read("<p><a href=x>one</a> <a href=x#part>again</a></p><p><a href=x>third</a></p>")
    assert [(link.anchor_text, link.block) for link in page.links] == [("one", 0), ("third", 1)]


def test_nofollow_of_link_and_page():
    page = read("<a rel='external nofollow' href=x>x</a><a href=y>y</a>")
    assert [link.nofollow for link in page.links] == [True, False]
    page = read("<meta name=robots content='NoIndex, nofollow'><body><a href=y>y</a>")
    assert page.robots == {"noindex", "nofollow"}
    assert page.links[0].nofollow


def test_head_facts():
    page = read(
        "<html lang=en-GB><head><base href='http://other.test/b/'>"
        "<link rel=canonical href='/c'><meta name=description content=' two  words '></head>"
        "<body><a href=x>x</a>"
    )
    assert page.language == "en"
    assert page.canonical == "http://other.test/c"
    assert page.description == "two words"
    assert page.links[0].url == "http://other.test/b/x"


def test_frames_are_links():
    page = read("<frameset><frame src=left.html><frame src=right.html></frameset>")
    assert [link.url for link in page.links] == [
        "http://host.test/dir/left.html",
        "http://host.test/dir/right.html",
    ]


@pytest.mark.parametrize(
    ("content", "urls"),
    [
        ("0; url=moved.html", ["http://host.test/dir/moved.html"]),
        ("5;URL='/far/moved.html'", ["http://host.test/far/moved.html"]),
        ("30", []),
        ("0; url=javascript:go()", []),
    ],
)
def test_where_a_page_sends_its_readers_is_a_link(content, urls):
    page = read(f'<head><meta http-equiv="Refresh" content="{content}"></head><p>Moved.')
    assert [link.url for link in page.links] == urls
    assert page.words == ["moved"]


def test_scripts_and_styles_are_no_text():
    page = read("<style>p{}</style><script>var x</script><p>seen</p><noscript>hidden</noscript>")
    assert page.words == ["seen"]


def test_an_empty_shell_with_scripts_is_noticed():
    assert read("<div id=root></div><script src=app.js></script>").scripted_shell
    assert not read("<script></script><p>" + "word " * 50).scripted_shell


def test_too_many_links_are_left_out():
    many = "".join(f"<a href={n}>l</a>" for n in range(50))
    assert len(read_page(URL, many, max_links=10).links) == 10


@pytest.mark.parametrize(
    "name", ["punycode", "IDNA", "zlib", "base-64", "rot13", "undefined", "unicode-escape", "uu"]
)
def test_codecs_that_are_no_charsets_are_not_believed(name):
    body = f"<meta charset={name}><p>" + "é" * 100_000 + "-" + "b" * 1_000_000
    assert decode(body.encode()) == body
    assert decode(body.encode(), f"text/html; charset={name}") == body
    assert HtmlResponse("http://host.test/", body=body.encode()).text == body


def test_encodings_from_header_and_meta():
    assert decode("é".encode("latin-1"), "text/html; charset=iso-8859-1") == "é"
    russian = "Звёзды и планеты видны в телескоп каждую ясную ночь. " * 5
    assert decode(russian.encode("cp1251")) == russian
    assert decode('<meta charset="utf-8">é'.encode()).endswith("é")


@given(st.text(alphabet="<>/ap href='\"=div#:\x00&;é\ud800", max_size=200))
def test_nothing_breaks_the_reader(html):
    page = read(html)
    assert len(page.terms) == len(page.words)
    for block in page.blocks:
        assert 0 <= block.span.start <= block.span.stop <= len(page.words)
    for link in page.links:
        assert 0 <= link.block < len(page.blocks)
        assert isinstance(page.context(link), Span)
    assert page.contexts(page.links) == [page.text(page.context(link)) for link in page.links]


def test_contexts_of_all_links_are_those_of_each():
    page = read(
        "<p>one <a href=a>two</a> three</p><p><a href=b><img></a></p>"
        "<p>é 日本 <a href=c>four</a></p><ul><li><a href=d><img></a></ul>"
    )
    assert page.contexts(page.links) == [page.text(page.context(link)) for link in page.links]
    assert "" in page.contexts(page.links)
    assert page.contexts(page.links[:1], width=0) == ["two"]
    assert read("<a href=a><img></a>").contexts(read("<a href=a><img></a>").links) == [""]


def test_control_characters_are_no_marks():
    page = read("<p>one\x01 two&#1;three</p><p>four</p>")
    assert [page.text(block.span) for block in page.blocks] == ["one two three", "four"]


def test_links_know_their_way_through_the_page():
    page = read(
        "<nav><ul><li><a href=m>m</a></ul></nav><div id=main class='x y'><p class='lead big'>"
        "<b><a href=p>p</a></b><map><area href=q alt=q></map></p></div>"
    )
    assert [link.tag_path for link in page.links] == [
        "body>!nav>ul>li>a",
        "body>div#main>p.lead>a",
        "body>div#main>p.lead>area",
    ]
