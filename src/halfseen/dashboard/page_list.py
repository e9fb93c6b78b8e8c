"""Every page of the dashboard, listed once."""

from __future__ import annotations

from starlette.responses import RedirectResponse
from starlette.routing import BaseRoute, Mount, Route

from halfseen.dashboard.change_pages import ChangePages
from halfseen.dashboard.dashboard_site import Entry, Nowhere, Site, static
from halfseen.dashboard.decision_pages import DecisionPages
from halfseen.dashboard.loop_pages import LoopPages
from halfseen.dashboard.value_page import ValuePage
from halfseen.explorer.site import application as explorer
from halfseen.service.api_calls import Api

READ = ("GET",)
BOTH = ("GET", "POST")


def pages_of(api: Api, local: bool) -> list[BaseRoute]:
    """Return the pages of a service: the dashboard and, if access is local only, the explorer.

    Parameters
    ----------
    api
        The service and its keys.
    local
        Whether only this machine can connect; the explorer computes on request.
    """
    site = Site(api, local)
    routes: list[BaseRoute] = [
        Route("/static/{name}", static),
        Route("/sign-in", site.sign_in, methods=["GET", "POST"]),
        Route("/sign-out", site.sign_out, methods=["POST"]),
    ]
    routes += [
        Route(path, site.page(page, kind, role), methods=list(methods))
        for path, page, kind, role, methods in pages(site)
    ]
    if local:
        routes += [
            Route("/explore", lambda request: RedirectResponse("/explore/")),
            Mount("/explore", site.on_this_machine(explorer())),
        ]
    lost = site.page(site.lost, "page_lost", "report")
    return [*routes, Nowhere("/{path:path}", lost, methods=["GET"])]


def pages(site: Site) -> list[Entry]:
    """Return address, page, kind, least role and methods of every page."""
    loops, decisions, value = LoopPages(site), DecisionPages(site), ValuePage(site)
    change = ChangePages(site)
    loop = "/loops/{loop}"
    return [
        ("/", loops.overview, "page_loops", "report", READ),
        ("/live", loops.overview_live, "page_live", "report", READ),
        (loop, loops.loop, "page_loop", "report", READ),
        (f"{loop}/live", loops.loop_live, "page_live", "report", READ),
        (f"{loop}/decisions", decisions.listed, "page_decisions", "report", READ),
        (f"{loop}/decisions/{{id:path}}", decisions.life, "page_decision", "report", READ),
        (f"{loop}/value", value.show, "page_value", "report", READ),
        (f"{loop}/export", change.export, "page_export", "report", BOTH),
        (f"{loop}/edit", change.edit, "page_edit", "admin", BOTH),
        (f"{loop}/expire", change.expire, "page_expire", "admin", BOTH),
        (f"{loop}/archive", change.archive, "page_archive", "admin", BOTH),
        ("/new-loop", change.new_loop, "page_new_loop", "admin", BOTH),
        ("/keys", change.keys, "page_keys", "admin", BOTH),
        ("/keys/{id}/revoke", change.revoke, "page_revoke", "admin", BOTH),
        ("/trail", change.trail, "page_trail", "admin", READ),
    ]
