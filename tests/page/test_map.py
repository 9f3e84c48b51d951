"""The map: drawn, pointed at, pinned, zoomed into, linked to, and moved through by the keyboard alone."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from tests.page.conftest import text_of

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

    from tests.page.conftest import Screen

HOT = "ORDER#<id> · 1"
HOT_LINK = "#table=orders&index=&direction=read&row=ORDER%23%3Cid%3E+%C2%B7+1"


def center_of(page: Page, row: str) -> tuple[float, float, float]:
    """Return where the cells of a row begin and end, and its middle."""
    cells, label = (
        page.locator(".cells").bounding_box(),
        page.get_by_role("button", name=row, exact=True).bounding_box(),
    )
    assert cells is not None
    assert label is not None
    return cells["x"], cells["x"] + cells["width"], label["y"] + label["height"] / 2


def test_the_map_names_its_shapes_its_marks_and_its_scale(still: Page) -> None:
    page = still
    says = text_of(page, "#map-says")
    assert "1 hot band ORDER#<id> · 1: demand 1.23 × the ceiling now, over 0.7 since 14:02:00, up to 1.28" in says
    assert "2 periodic burst USER#<id> · 2: bursts every 5 min" in says
    assert (
        "3 rows jump together 31 of 34 rows rise together, 2.3 times what it was: client or network, not keys" in says
    )
    assert "4 rolling diagonal EVENT#<n> · 16: 12 keys of one prefix take turns" in says
    assert page.locator("#map-says .now").count() == 1
    assert page.locator("#map-says .event").all_inner_texts() == [
        "A 13:34 capacity read units 6,000 → 8,000",
        "B 13:41 unexpected-scan began (3% of read units)",
        "C 14:01 deploy checkout-api 4.12.0, then hot-key began (heat 1.24)",
    ]
    assert page.locator(".marks .mark").all_inner_texts() == ["A", "B", "C"]
    assert "0 0.7 0.7–1.0 1.0 and more of one partition's ceiling tries refused not known" in text_of(page, ".legend")
    assert (
        text_of(page, ".top-says")
        == "read units a second 10-s mean, up to 11,831 provisioned 8,000 now one partition 3,000"
    )
    assert text_of(page, ".share-says") == "share of units 13:06–14:06 bars 0–15%, ticks: bounds"


def test_only_what_is_over_its_ceiling_now_is_red_and_what_takes_much_is_named_with_its_number(still: Page) -> None:
    page = still
    assert page.locator(".label.hot").all_inner_texts() == [HOT]
    named = page.locator(".label:not(.hush)").count()
    assert page.locator(".share-number:not(:empty)").count() == named
    assert page.locator(".label:not(.hush)", has_text="ORDER#* (others)").count() == 1


def test_pointing_at_a_cell_tells_key_rate_bounds_refusals_pattern_and_caller(still: Page) -> None:
    page = still
    _, right, y = center_of(page, HOT)
    page.mouse.move(right - 5, y)
    page.wait_for_function("() => document.querySelector('#cell-says').innerText.includes('14:05')")
    told = text_of(page, "#cell-says")
    assert told.startswith(HOT)
    for said in (
        "of a partition's ceiling ≈",
        "read units a second",
        "tries refused",
        "get-order",
        "checkout-api",
        "[",
        "–",
    ):
        assert said in told


def test_a_click_pins_a_row_and_shows_its_pattern_alone_and_escape_lets_it_go(screen: Screen) -> None:
    page = screen.open()
    _, right, y = center_of(page, HOT)
    page.mouse.click(right - 5, y)
    page.wait_for_url("**/#*row=ORDER*")
    assert page.locator("#patterns tbody tr").count() == 1
    assert text_of(page, "#findings-count").startswith("1 of 3, those of get-order")
    page.mouse.move(0, 0)
    assert text_of(page, "#cell-says").startswith(HOT)
    page.keyboard.press("Escape")
    page.wait_for_function("() => !location.hash.includes('row=')")
    assert page.locator("#patterns tbody tr").count() == 8


def test_a_brush_zooms_and_escape_goes_back(screen: Screen) -> None:
    page = screen.open()
    left, right, y = center_of(page, HOT)
    page.mouse.move(left + (right - left) * 0.9, y)
    page.mouse.down()
    page.mouse.move(right - 3, y, steps=3)
    with page.expect_response("**/api/v1/heatmap?*step=1s*") as answered:
        page.mouse.up()
    assert answered.value.json()["step_ms"] == 1000
    assert "from=2026-06-01T13%3A59%3A50" in page.url
    back = page.get_by_role("button", name="back from 13:59:50")
    back.wait_for()
    with page.expect_response("**/api/v1/heatmap?*"):
        page.keyboard.press("Escape")
    back.wait_for(state="detached")
    assert "from=" not in page.url


def test_a_link_shows_a_colleague_the_same(screen: Screen) -> None:
    page = screen.open(HOT_LINK)
    assert text_of(page, "#cell-says").startswith(HOT)
    assert page.locator(".label.chosen").inner_text() == HOT
    page.goto(f"{screen.url}/#table=orders&index=GSI1&direction=write")
    page.wait_for_function(
        "() => document.querySelector('#map select').selectedOptions[0].text.startsWith('orders/GSI1 writes')"
    )
    page.go_back()
    page.wait_for_function(
        "() => document.querySelector('#map select').selectedOptions[0].text.startsWith('orders reads')"
    )


def test_a_link_to_a_finding_opens_it_and_pins_its_key(screen: Screen) -> None:
    page = screen.open("#finding=f-throttling")
    page.wait_for_selector("text=17% of read requests to orders were throttled")
    page.click("#findings details.finding >> nth=0 >> text=show on the map >> nth=0")
    page.wait_for_url("**/#*finding=f-hot*")


def test_the_keyboard_alone_reaches_moves_pins_zooms_and_goes_back(screen: Screen) -> None:
    page = screen.open()
    for _ in range(30):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.className") == "cells":
            break
    assert text_of(page, "#cell-says").startswith("USER#<id> · 2")  # the hottest cell of all
    for _ in range(6):
        page.keyboard.press("ArrowUp")
    assert text_of(page, "#cell-says").startswith(HOT)
    page.keyboard.press("End")
    page.keyboard.press("ArrowLeft")
    assert "14:05:40 UTC" in text_of(page, "#cell-says")
    page.keyboard.press("Enter")
    page.wait_for_url("**/#*row=ORDER*column=2026-06-01T14%3A05%3A40*")
    assert page.evaluate("document.activeElement.className") == "cells"
    for _ in range(6):
        page.keyboard.press("Shift+ArrowLeft")
    page.keyboard.press("Enter")
    page.wait_for_url("**/#*from=2026-06-01T14%3A04%3A40*to=2026-06-01T14%3A05%3A50*")
    page.keyboard.press("Escape")
    page.keyboard.press("Escape")
    page.wait_for_function("() => !location.hash.includes('from=')")


def test_the_table_says_the_same_in_words(screen: Screen) -> None:
    page = screen.open()
    page.click("button:has-text('table')")
    rows = page.locator(".map-table tbody tr")
    assert rows.count() == 34
    told = " ".join(rows.nth(19).inner_text().split())
    assert told.startswith(f"{HOT} get-order checkout-api 8% [")
    rows.nth(19).get_by_role("button").click()
    assert page.locator(".label.chosen").inner_text() == HOT


def test_a_map_relative_to_itself_says_so(screen: Screen) -> None:
    page = screen.open()
    page.click("button:has-text('relative')")
    page.wait_for_selector(".legend >> text=Relative:")
    assert "It says nothing about ceilings." in text_of(page, ".legend")
    assert page.locator(".label.hot").count() == 0


def test_a_daemon_that_has_just_begun_shows_what_it_knows_and_since_when(screen: Screen) -> None:
    def young(route: Route) -> None:
        answer = route.fetch()
        told = answer.json()
        heat = bytearray(base64.b64decode(told["heat"]))
        for row in range(len(told["rows"])):
            heat[row * 360 : row * 360 + 320] = b"\xff" * 320
        route.fulfill(response=answer, json={**told, "heat": base64.b64encode(heat).decode(), "labels": []})

    screen.page.route("**/api/v1/heatmap?*", young)
    page = screen.open()
    assert "Nothing is known from before 13:59:20." in text_of(page, "#map-says")
    left, _, y = center_of(page, HOT)
    page.mouse.move(left + 2, y)
    page.wait_for_function("() => document.querySelector('#cell-says').innerText.includes('13:59:20 UTC')")


def test_of_a_table_that_nobody_knows_the_hottest_is_shown_instead(screen: Screen) -> None:
    page = screen.open("#table=forgotten&index=&direction=write")
    assert page.locator("#map select option:checked").inner_text().startswith("orders reads")
    assert "forgotten" not in page.url
    screen.wrong.clear()  # the browser itself tells of the 404


def test_where_keys_are_not_visible_the_map_says_how_they_become_so(screen: Screen) -> None:
    screen.page.goto(f"{screen.url}/#table=sessions&index=&direction=read")
    screen.page.wait_for_selector("text=keys are not visible in metrics")


def test_a_pattern_is_shown_alone_on_the_map_too(screen: Screen) -> None:
    page = screen.open()
    page.click("#patterns >> text=load-cart")
    page.wait_for_url("**/#*pattern=load-cart*")
    assert page.locator(".label:not(.dim)").count() == 5
    assert text_of(page, "#findings-list") == "None of this pattern."


def test_cells_have_the_colors_of_the_scheme(screen: Screen) -> None:
    page = screen.open()
    for scheme, hot in (("dark", "#ff5a30"), ("light", "#d23c17")):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.wait_for_function(f"() => document.querySelector('.heat').data[0].colorscale.at(-1)[1] === '{hot}'")
    stops = page.evaluate(
        "document.querySelector('.heat').data[0].colorscale.map(([at]) => Math.round(at * 250) / 100)"
    )
    assert stops[-4:] == [0.7, 1.0, 1.0, 2.5]
