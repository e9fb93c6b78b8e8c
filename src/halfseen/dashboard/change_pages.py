"""Pages that make changes, each previewed, confirmed and recorded in the list of changes."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import FileResponse, RedirectResponse, Response

from halfseen.dashboard.dashboard_site import Site
from halfseen.dashboard.decision_pages import moment
from halfseen.dashboard.loop_figures import duration, text
from halfseen.dashboard.loop_form import FIELDS, changes, config_of, form_of
from halfseen.dashboard.sign_in import Visitor, keep
from halfseen.errors import HalfseenError, InvalidInput
from halfseen.explorer.page_files import SAFE
from halfseen.service.api_keys import PATTERN, ROLES, new_key, row_of
from halfseen.service.change_table import add_change, newest_changes
from halfseen.service.exchange import Outcome
from halfseen.service.log_export import MEDIA, export_file
from halfseen.service.loop_table import check_revision
from halfseen.service.problem_documents import invalid
from halfseen.service.refusals import Refusal
from halfseen.service.writer import microseconds

MOST = 1000  # decisions that are expired at once
NEW_KEY, SHOWN_SECONDS = "halfseen_new_key", 60  # cookie that carries a new key to the next page


class ChangePages:
    """The pages that change loops and keys."""

    def __init__(self, site: Site) -> None:
        self.site, self.service = site, site.service
        self._one = asyncio.Semaphore(1)

    async def _note(self, visitor: Visitor, what: str, loop: str = "", detail: str = "") -> None:
        """Add to the list of changes."""
        row = (microseconds(), visitor.key, visitor.name, what, loop, detail)
        await self.service.writer.do(lambda log: add_change(log, row))

    def _confirm(self, request: Request, visitor: Visitor, **content: Any) -> Response:
        """Ask for confirmation."""
        usual: dict[str, Any] = {"fields": {}, "lines": [], "danger": False, "changes": False}
        return self.site.html(request, visitor, "confirm.html", **usual | content)

    async def new_loop(self, request: Request, visitor: Visitor) -> Response:
        """Create a loop."""
        return await self._loop_form(request, visitor, None)

    async def edit(self, request: Request, visitor: Visitor) -> Response:
        """Change the settings of a loop."""
        return await self._loop_form(request, visitor, request.path_params["loop"])

    async def _loop_form(self, request: Request, visitor: Visitor, name: str | None) -> Response:
        before = None if name is None else self.service.config(name)
        given = form_of(before)
        trouble = ""
        form = request.state.form if request.method == "POST" else {}
        given |= {field: form[field] for field in given if field in form}
        if form and form.get("confirmed") != "no":
            try:
                config = config_of(given if name is None else given | {"name": name}, before)
                lines = changes(before, config)
                if name is not None:
                    check_revision(self.service.loop(name), config)
                elif form.get("confirmed") != "yes":
                    self._check_new(config.name)
                if form.get("confirmed") == "yes":
                    if before is None:
                        await self.service.create_loop(config)
                    else:
                        await self.service.revise_loop(config)
                    done = "made a loop" if before is None else "changed a loop"
                    await self._note(visitor, done, config.name, "; ".join(lines)[:2000])
                    return RedirectResponse(f"/loops/{config.name}", 303)
                again = before is not None and not config.same_but_arms(before)
                if again:
                    lines.append("The whole log is replayed under the new settings.")
                if before is not None and config.window != before.window:
                    lines.append("Existing decisions keep their window.")
                if config.missing == 0:
                    lines.append(
                        "Missing rewards are learned as 0: unless no answer really means 0, the"
                        " loop learns to avoid what is rarely answered."
                    )
                title = f"Create the loop {config.name}?" if before is None else f"Change {name}?"
                back = "/" if name is None else f"/loops/{name}"
                return self._confirm(
                    request,
                    visitor,
                    title=title,
                    lines=lines,
                    fields=given,
                    back=back,
                    changes=True,
                )
            except (HalfseenError, Refusal) as error:
                trouble = str(error)
        title = "New loop" if name is None else f"Edit {name}"
        return self.site.html(
            request,
            visitor,
            "loop_form.html",
            422 if trouble else 200,
            title=title,
            name=name,
            fields=FIELDS,
            given=given,
            trouble=trouble,
        )

    def _check_new(self, name: str) -> None:
        """Refuse the name of an existing loop before asking for confirmation."""
        if name in [config.name for config in self.service.loops()]:
            raise InvalidInput(
                "name", "must be a new one", name, "Use another name, or edit that loop."
            )

    async def archive(self, request: Request, visitor: Visitor) -> Response:
        """Close a loop for decisions."""
        name = request.path_params["loop"]
        if self.service.loop(name).archived:
            return RedirectResponse(f"/loops/{name}", 303)
        if request.method == "POST":
            await self.service.archive_loop(name)
            await self._note(visitor, "archived a loop", name)
            return RedirectResponse(f"/loops/{name}", 303)
        lines = ["It makes no more decisions. Outcomes are still accepted, and its log is kept."]
        title, back = f"Archive {name}?", f"/loops/{name}"
        return self._confirm(request, visitor, title=title, lines=lines, back=back, danger=True)

    async def expire(self, request: Request, visitor: Visitor) -> Response:
        """Expire pending decisions."""
        name = request.path_params["loop"]
        live, now = self.service.loop(name), self.service.clock()
        given = request.state.form if request.method == "POST" else request.query_params
        minutes = _minutes(given.get("minutes", ""), live.state.window / 120e6)
        since = now - round(minutes * 60e6)
        waiting: Any = list(live.state.agent._ledger.open.values())
        old = [
            str(entry.id)
            for entry in waiting
            if entry.expires is not None and entry.expires - live.state.window_of(entry) <= since
        ]
        if request.method == "POST":
            some = [Outcome(one, None) for one in old[:MOST]]
            answers = await self.service.submit(name, some, visitor.key) if some else []
            done = sum(not isinstance(answer, Refusal) for answer in answers)
            detail = f"{done} decisions older than {duration(60 * minutes)}"
            await self._note(visitor, "expired decisions", name, detail)
            return RedirectResponse(f"/loops/{name}", 303)
        lines = [
            f"{text(len(old))} of the {text(live.state.tally.pending)} pending decisions were shown"
            f" more than {duration(60 * minutes)} ago. They become missing now, before their window"
            f" of {duration(live.state.window / 1e6)} closes; a reward that comes later is late."
        ]
        if len(old) > MOST:
            lines.append(f"The oldest {MOST:,} at a time.")
        return self._confirm(
            request,
            visitor,
            title=f"Expire decisions of {name}?",
            lines=lines,
            fields={"minutes": f"{minutes:g}"},
            ask=("minutes", "Older than (minutes)", f"{minutes:g}"),
            back=f"/loops/{name}",
            danger=True,
        )

    async def export(self, request: Request, visitor: Visitor) -> Response:
        """Give the log of a loop as a file."""
        name = request.path_params["loop"]
        self.service.loop(name)
        if request.method == "POST":
            kind = request.state.form.get("format", "parquet")
            if kind not in MEDIA:
                raise invalid("format", "must be csv or parquet", kind, "Use parquet.")
            async with self._one:
                file = await export_file(self.service, name, kind)
            if not self.service.read_only:
                await self._note(visitor, "exported a log", name, kind)
            headers = SAFE | {"Cache-Control": "no-store"}
            delete = BackgroundTask(file.unlink, missing_ok=True)
            media, named = MEDIA[kind].decode(), f"{name}.{kind}"
            return FileResponse(
                file, media_type=media, filename=named, headers=headers, background=delete
            )
        lines = [
            "One row per decision: arm, probability, reward, state and times, as halfseen audit"
        ]
        lines[0] += " and halfseen value read it."
        return self._confirm(
            request,
            visitor,
            title=f"Export the log of {name}?",
            lines=lines,
            choice=("format", "Format", list(MEDIA)[::-1]),
            back=f"/loops/{name}",
        )

    async def keys(self, request: Request, visitor: Visitor) -> Response:
        """Show the keys; issue one."""
        trouble, secret = "", request.cookies.get(NEW_KEY, "")
        secret = secret if PATTERN.fullmatch(secret) else ""
        form = request.state.form if request.method == "POST" else {}
        try:
            if form:
                name, role = form.get("name", "").strip(), form.get("role", "")
                key, shown = new_key(name, role, microseconds())
                if form.get("confirmed") != "yes":
                    lines = [f"“{name}” may then {_may(role)}. The key is shown once."]
                    fields = {"name": name, "role": role}
                    title = f"Issue a key of the role {role}?"
                    return self._confirm(
                        request, visitor, title=title, lines=lines, fields=fields, back="/keys"
                    )
                await self.service.keys.add(row_of(key))
                await self._refresh()
                await self._note(visitor, "issued a key", "", f"{key.id} {name}, {role}")
                onward = RedirectResponse("/keys", 303)
                keep(onward, request, NEW_KEY, shown, SHOWN_SECONDS, path="/keys")
                return onward
        except InvalidInput as error:
            trouble = str(error)
        rows = [
            row
            | {
                "created": moment(row["created"]),
                "revoked": row["revoked"] and moment(row["revoked"]),
            }
            for row in await self.service.keys.all()
        ]
        response = self.site.html(
            request,
            visitor,
            "keys.html",
            422 if trouble else 200,
            title="Keys",
            here="/keys",
            rows=rows,
            roles=ROLES,
            secret=secret,
            trouble=trouble,
        )
        if secret:  # shown once: not when the page is reloaded
            response.delete_cookie(NEW_KEY, path="/keys")
        return response

    async def revoke(self, request: Request, visitor: Visitor) -> Response:
        """Make a key invalid."""
        number = request.path_params["id"]
        known = {row["id"]: row for row in await self.service.keys.all() if not row["revoked"]}
        if number not in known:
            raise invalid("key", "must be the id of a valid key", number, "Open the list again.")
        row = known[number]
        if request.method == "POST":
            await self.service.keys.revoke(number, microseconds())
            await self._refresh()
            await self._note(visitor, "revoked a key", "", f"{number} {row['name']}, {row['role']}")
            return RedirectResponse("/keys", 303)
        lines = [f"Requests with the key “{row['name']}” ({row['role']}) are refused from then on."]
        if number == visitor.key:
            lines.append("You are signed in with this key.")
        title = f"Revoke the key {row['name']}?"
        return self._confirm(request, visitor, title=title, lines=lines, back="/keys", danger=True)

    async def _refresh(self) -> None:
        if self.site.api.keys is not None:
            await self.site.api.keys.refresh()

    async def trail(self, request: Request, visitor: Visitor) -> Response:
        """Show who changed what, and when."""
        rows = [
            {"at": moment(at), "who": who, "key": key, "what": what, "loop": loop, "detail": detail}
            for at, key, who, what, loop, detail in await self.service.read(newest_changes)
        ]
        return self.site.html(
            request, visitor, "trail.html", title="Changes", here="/trail", rows=rows
        )


def _minutes(given: str, usual: float) -> float:
    if not given:
        return float(f"{usual:.3g}")
    try:
        minutes = float(given)
    except ValueError:
        minutes = -1.0
    if not 0.0 <= minutes <= 1e7:
        raise invalid("minutes", "must be a number of minutes", given, "Use for example 60.")
    return minutes


def _may(role: str) -> str:
    return {
        "decide": "ask for decisions and report outcomes",
        "report": "also read loops, audits, exports and these pages",
        "admin": "do everything: also create and change loops and keys",
    }[role]
