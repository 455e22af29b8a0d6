"""The web page in a real Chromium. Screenshots are kept in artefacts/."""

import pytest

from tests.web.chromium import needs_chromium, shot
from tests.web.conftest import TOKEN

pytestmark = needs_chromium


def test_search_by_keyboard(tab, served):
    tab.goto(served)
    tab.keyboard.press("/")
    tab.keyboard.type("comets orbit")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("a.title")
    assert tab.locator("mark").count() > 0
    tab.keyboard.press("ArrowDown")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("ol.way li")
    tab.wait_for_selector("svg[aria-label^=Galaxy] circle")
    shot(tab, "page")


def test_a_page_explains_itself(tab, served):
    tab.goto(f"{served}/?q=title:comets")
    tab.click("a.title")
    tab.wait_for_selector("svg[aria-label^=Galaxy] circle")
    assert tab.locator("ol.way li").count() == 3
    assert "score" in tab.locator("ol.way li").last.inner_text()


def test_a_query_that_makes_no_sense_gets_a_sentence(tab, served):
    tab.goto(f"{served}/?q=%22")
    tab.wait_for_selector(".notice")
    assert "Traceback" not in tab.inner_text("main")


def test_a_crawl_is_shown(tab, served):
    tab.goto(f"{served}/crawls")
    tab.click("text=small")
    tab.wait_for_selector("svg[aria-label^='Pages on topic']")
    assert "5" in tab.inner_text(".tiles")
    shot(tab, "crawl")


def test_orders_can_be_given_with_the_token(tab, served, store):
    tab.goto(f"{served}/crawls/small#token={TOKEN}")
    tab.get_by_role("button", name="Pause").click()
    tab.wait_for_selector("#toast.shown")
    assert store.orders("small")[0].command == "pause"
    assert "token" not in tab.url


def test_without_the_token_nothing_can_be_changed(tab, served):
    tab.goto(f"{served}/crawls/small")
    tab.wait_for_selector(".tiles")
    assert tab.get_by_role("button", name="Pause").count() == 0


def test_the_tgraph_shows_a_node(tab, served):
    tab.goto(f"{served}/crawls/small/tgraph")
    tab.click(".node >> nth=0")
    tab.wait_for_selector("text=DC, text around the links")
    assert tab.locator(".ways path.on").count() > 0
    shot(tab, "tgraph")


def test_every_score_of_a_link_is_told(tab, served):
    tab.goto(f"{served}/?q=title:comets")
    tab.click("a.title")
    tab.click("text=Every score that its link was given")
    tab.wait_for_selector("ol.way li >> text=Scored")
    assert "http://a.test/stars" in tab.inner_text("main")
    assert tab.locator(".features .bar").count() > 0
    shot(tab, "explain")
    tab.fill("input[type=search]", "ftp://nothing")
    tab.keyboard.press("Enter")
    tab.wait_for_selector(".notice.bad")


def test_a_search_is_narrowed_by_a_click(tab, served):
    tab.goto(f"{served}/?q=comet")
    tab.click("a.badge >> text=a.test >> nth=0")
    tab.wait_for_selector("span.badge >> text=a.test")
    assert tab.input_value("input[type=search]") == "comet site:a.test"


def test_nothing_of_a_hostile_page_runs(tab, served):
    requests = []
    tab.on("request", lambda request: requests.append(request.url))
    tab.goto(f"{served}/?q=meteors")
    tab.wait_for_selector("a.title")
    tab.click("a.title >> nth=0")
    tab.wait_for_selector("ol.way li")
    tab.click("text=Show it here")
    tab.wait_for_timeout(800)
    assert "pwned" not in tab.title()
    frame = tab.frames[-1]
    assert "original" in frame.url
    assert "pwned" not in frame.title()
    assert all(url.startswith(served) for url in requests)
    shot(tab, "hostile")


@pytest.mark.parametrize(
    "path",
    [
        "/", "/?q=comets", "/page/2", "/crawls", "/crawls/small", "/crawls/small/tgraph",
        "/crawls/small/explain?url=http://a.test/comets", "/compare",
    ],
)  # fmt: skip
def test_phone_width_needs_no_sideways_scrolling(browser, served, path):
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme="dark")
    tab = context.new_page()
    tab.goto(f"{served}{path}")
    tab.wait_for_timeout(700)
    wide = tab.evaluate("document.documentElement.scrollWidth")
    assert wide <= 391
    if path == "/?q=comets":
        shot(tab, "phone")
    context.close()


def test_at_phone_width_words_of_a_table_stay_whole(browser, served):
    context = browser.new_context(viewport={"width": 390, "height": 800})
    tab = context.new_page()
    tab.goto(f"{served}/crawls")
    tab.wait_for_selector("td .badge")
    cells = tab.locator("tbody tr").first.locator("td")
    # Three lines, which a date takes from ten o'clock on; a word that is broken takes more.
    assert all(cell.bounding_box()["height"] < 100 for cell in cells.all())
    context.close()


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/?q=comets",
        "/page/2",
        "/crawls",
        "/crawls/small",
        "/crawls/small/tgraph",
        "/crawls/small/explain?url=http://a.test/comets",
        "/compare",
    ],
)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessibility(browser, served, path, scheme):
    from axe_playwright_python.sync_playwright import Axe

    # The page's own policy forbids foreign scripts; axe has to be let in for the test.
    context = browser.new_context(color_scheme=scheme, bypass_csp=True)
    tab = context.new_page()
    tab.goto(f"{served}{path}#token={TOKEN}")
    tab.wait_for_timeout(700)
    found = Axe().run(tab).response["violations"]
    serious = [
        f"{one['id']}: {one['help']} {[node['target'] for node in one['nodes'][:3]]}"
        for one in found
        if one["impact"] in {"serious", "critical"}
    ]
    assert serious == []
    context.close()
