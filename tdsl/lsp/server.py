"""The language server: it translates between the protocol and ``tdsl.ide``, and decides when what is asked.

Syntax and names are reported as soon as the text changes. Proofs run in a process of their own after a
pause, and are given up as soon as the text changes again. Protocol:
https://microsoft.github.io/language-server-protocol, version 3.17.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from itertools import count, islice
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcException
from pygls.uris import from_fs_path, to_fs_path
from pygls.workspace import TextDocument

from tdsl import __version__
from tdsl.config import ConfigError
from tdsl.explain import catalogue
from tdsl.findings.diagnostic import Diagnostic, Diagnostics, Severity
from tdsl.findings.source import SourceFile, SourceSpan
from tdsl.ide import colours, extras, judge, meaning, outline, positions, snippets
from tdsl.ide.complete import complete_word
from tdsl.ide.facts import Placed
from tdsl.ide.judge import Question, TextJudgement
from tdsl.ide.known import KnownNames, preload_standard_library
from tdsl.ide.opened import COMPLETIONS, KINDS, Open
from tdsl.ide.rename import RenameIndex, RenameRefused
from tdsl.ide.worker import Worker
from tdsl.lsp.messages import Answering
from tdsl.syntax.parser import context_before_offset, parse_source_file
from tdsl.syntax.printer import format_source

AT_ONCE_S = 0.03
"""How long the text must rest before its names are read: what the editor asks with the change goes first."""
LARGEST, TOO_LARGE = (
    400_000,
    "the text is larger than 400,000 characters: the editor leaves it to `tdsl check`",
)
"""Characters of a text that is answered for. One of this size is read in about two seconds."""
ANSWER_S, TOO_LONG = 20.0, "the answer takes longer than 20 seconds"
"""How long a request is worked on before the editor is refused an answer."""
NOWHERE = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
PAUSE_S = 0.05
"""How long the text must rest before it is compiled. What is wired stays, so that little is lost where it
changes again."""
LONG_PAUSE_S = 0.4
"""The same after a process that compiles was ended, and lost what it kept."""

SEVERITIES = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.NOTE: lsp.DiagnosticSeverity.Information,
    Severity.ALLOWED: lsp.DiagnosticSeverity.Hint,
}


def symbol_kind(symbol: outline.Symbol) -> lsp.SymbolKind:
    """The protocol's kind of a declaration."""
    return lsp.SymbolKind[KINDS.get(symbol.kind, "Object")]


class Refusal(JsonRpcException):
    """What cannot be done, with the reason as its message. It is an answer, and no fault of the server that
    it should log."""

    CODE = lsp.LSPErrorCodes.RequestFailed.value


class Server(Answering):
    """The server of one editor."""

    def __init__(self) -> None:
        super().__init__("tdsl", __version__, text_document_sync_kind=lsp.TextDocumentSyncKind.Incremental)
        self.open: dict[str, Open] = {}
        self.worker = Worker()
        self.reader = ThreadPoolExecutor(1)
        self.answers = ThreadPoolExecutor(1)  # requests, one after another: those that wait can be cancelled
        self.texts = 0  # counts changes of texts: what was found for an earlier one is not kept
        self.turn = asyncio.Lock()
        self.said: dict[str, set[str]] = {}  # of each open file, the other files it had findings about
        self.wrong = ""
        self.checks = count()  # numbers what is shown as progress
        self.completed = False  # whether names were completed once, so that the first who asks does not wait
        self.pages: dict[str, Path | None] = {}  # of codes, those that were asked for
        self.indices: dict[str, RenameIndex] = {}  # of names, for each file asked about, until a text changes

    def preload(self) -> None:
        """Read the standard library where answers are worked out, a file at a time: an answer that is asked
        for meanwhile comes next."""
        steps = preload_standard_library()

        def step() -> None:
            for _ in islice(steps, 1):
                self.answers.submit(step)

        self.answers.submit(step)

    # ------------------------------------------------------------ places

    @property
    def encoding(self) -> str:
        """How columns are counted, as agreed with the editor."""
        return str(
            getattr(self.workspace.position_encoding, "value", self.workspace.position_encoding) or "utf-16"
        )

    def range(self, span: SourceSpan) -> lsp.Range:
        """A span, as editors count."""
        start, end = (
            lsp.Position(*positions.editor_position(span.file, at, self.encoding))
            for at in (span.start, span.end)
        )
        return lsp.Range(start, end)

    def offset(self, state: Open, position: lsp.Position) -> int:
        """An offset into the text of a file that is open."""
        return positions.offset_of_editor_position(
            state.file, position.line, position.character, self.encoding
        )

    def uri(self, span: SourceSpan) -> str:
        """The file of a span; an open one by the name that the editor gave it."""
        path = str(positions.path_of_finding_file(span.file.name))
        resolved = str(Path(path).resolve())
        for state in list(self.open.values()):
            if resolved == str(Path(state.path).resolve()):
                return state.uri
        return from_fs_path(path) or path

    def location(self, span: SourceSpan) -> lsp.Location:
        """A span with its file."""
        return lsp.Location(self.uri(span), self.range(span))

    # ------------------------------------------------------------ texts

    def read(self, document: TextDocument) -> None:
        """Take the text of a document, tell what it shows at once, and have it proved after a pause."""
        path = to_fs_path(document.uri)
        if (
            path is None or "\0" in path
        ):  # no file system has such a name, and resolving it raises at every later request
            return
        before = self.open.get(document.uri)
        if before is not None and before.task is not None:
            before.task.cancel()
        self.worker.drop()
        if len(document.source) > LARGEST:  # every request would keep the editor waiting
            self.close(document.uri)
            note = lsp.Diagnostic(
                NOWHERE, TOO_LARGE, severity=lsp.DiagnosticSeverity.Information, source="tdsl"
            )
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(document.uri, [note]))
            return
        state = self.take(document.uri, path, document.source, before.sets if before else ())
        if before is not None:  # what was proved stays in view until it is proved again
            state.lenses = before.lenses
            state.late = tuple(
                extras.findings_moved_to_text((*before.proved, *before.late), before.file, state.file)
            )
        state.task = asyncio.get_running_loop().create_task(
            self.judge(state, LONG_PAUSE_S if self.worker.ended else PAUSE_S)
        )

    def take(self, uri: str, path: str, text: str, sets: tuple[Placed, ...] = ()) -> Open:
        """Have a file open with a text, and the device sets that it had when it was last compiled."""
        file, own = SourceFile(path, text), Diagnostics()
        body = parse_source_file(file, own).body
        self.forget()
        self.open[uri] = Open(uri, path, file, body, not own.has_errors, sets=sets)
        return self.open[uri]

    def save(self, uri: str) -> None:
        """Have a file proved that was saved: what it uses may have changed, too."""
        state = self.open.get(uri)
        self.forget()
        if state is not None and state.judged:
            if state.task is not None:
                state.task.cancel()
            self.worker.drop()
            state.task = asyncio.get_running_loop().create_task(self.judge(state, 0))

    def close(self, uri: str) -> None:
        """Forget a file, and take back what was said of it."""
        state = self.open.pop(uri, None)
        self.forget()
        if state is None:
            return
        if state.task is not None:
            state.task.cancel()
        self.worker.drop()
        for other in {uri, *self.said.pop(uri, set())}:
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(other, []))

    def forget(self) -> None:
        """Take what names mean for unknown: a file changed, and others may use it."""
        self.texts += 1
        self.indices.clear()
        for state in list(self.open.values()):
            state.known = None

    def question(self, state: Open) -> Question:
        """The file, with the texts of all that are open."""
        return Question(
            state.path, {str(Path(s.path).resolve()): s.file.text for s in list(self.open.values())}
        )

    async def judge(self, state: Open, pause: float) -> None:
        """Tell names at once and proofs as they come. A change of the text cancels this."""
        loop = asyncio.get_running_loop()
        names = loop.create_task(self.names(state)) if not state.judged else None
        try:
            await self.proofs(state, pause)
        finally:
            if names is not None:
                names.cancel()

    async def names(self, state: Open) -> None:
        """Tell what the text alone shows, unless the process that compiles it is faster."""
        await asyncio.sleep(AT_ONCE_S)
        judgement = await asyncio.get_running_loop().run_in_executor(
            self.reader, judge.judge_names_or_fault, self.question(state)
        )
        state.values = judgement.facts
        if self.open.get(state.uri) is state and not state.compiled:
            self.tell(state, judgement, keep=True)
        if not self.completed:
            self.completed = True
            await asyncio.get_running_loop().run_in_executor(
                self.reader, self.completion, state, len(state.file.text), False
            )

    async def proofs(self, state: Open, pause: float) -> None:
        """Tell what the process that compiles finds, as it comes."""
        loop = asyncio.get_running_loop()
        answer = None
        while answer is None:  # a change of another file gives this up, too; that file goes first
            await asyncio.sleep(pause)
            pause = LONG_PAUSE_S
            async with self.turn:  # one design at a time

                def early(found: TextJudgement, state: Open = state) -> None:
                    loop.call_soon_threadsafe(self.known_early, state, found)

                async with self.checking(state):
                    question, round = self.question(state), self.worker.round
                    answer = await loop.run_in_executor(None, self.worker.ask, question, round, early)
            if self.open.get(state.uri) is not state:
                return
        state.facts, state.judged, state.known, state.compiled = answer.facts, True, None, True
        state.sets, state.lenses = answer.sets or state.sets, answer.lenses
        state.late, state.proved = (), () if answer.wrong else answer.findings
        self.tell(state, answer)
        capabilities = self.client_capabilities.workspace
        if (
            capabilities is not None
            and capabilities.inlay_hint is not None
            and capabilities.inlay_hint.refresh_support
        ):
            self.workspace_inlay_hint_refresh(None)
        if (
            capabilities is not None
            and capabilities.code_lens is not None
            and capabilities.code_lens.refresh_support
        ):
            self.workspace_code_lens_refresh(None)

    def known_early(self, state: Open, found: TextJudgement) -> None:
        """Tell what the wiring shows, while the proofs go on."""
        if self.open.get(state.uri) is state and not state.judged:
            state.compiled = True
            self.tell(state, found, keep=True)

    @asynccontextmanager
    async def checking(self, state: Open) -> AsyncIterator[None]:
        """Show in the editor that a design is being checked, if it can."""
        window = self.client_capabilities.window
        if window is None or not window.work_done_progress:
            yield
            return
        token = f"tdsl-{next(self.checks)}"
        # A change of the text cancels this check, and the editor's answer must still find its request.
        created = asyncio.ensure_future(self.work_done_progress.create_async(token))
        created.add_done_callback(lambda done: done.cancelled() or done.exception())
        try:
            await asyncio.shield(created)
        except JsonRpcException:
            yield
            return
        self.work_done_progress.begin(
            token, lsp.WorkDoneProgressBegin(f"Checking {Path(state.path).name}", cancellable=False)
        )
        try:
            yield
        finally:
            self.work_done_progress.end(token, lsp.WorkDoneProgressEnd())

    # ------------------------------------------------------------ names

    def asked(self, document: lsp.TextDocumentIdentifier, at: lsp.Position) -> tuple[Open | None, Path, int]:
        """The open file that a question is about, its path, and the offset into its text."""
        state = self.open.get(document.uri)
        return (state, Path(state.path), self.offset(state, at)) if state else (None, Path(), 0)

    def definitions(self, state: Open, path: Path, at: int) -> list[lsp.Location]:
        """Where the name at a place is declared; of a check its page, as `tdsl explain` prints it."""
        from tdsl.verify.check import Check

        declared = [self.location(span) for span in self.index(state).definition(path, at)]
        if declared:
            return declared
        found = meaning.meaning_at_offset(self.known(state), state.file, at)
        check = (
            found[1].node if found is not None and found[1] is not None and found[1].kind == "check" else None
        )
        page = extras.explanation_file(check.code) if isinstance(check, Check) else None
        uri = from_fs_path(str(page)) if page is not None else None
        return [lsp.Location(uri, NOWHERE)] if uri else []

    def index(self, state: Open, fresh: bool = False) -> RenameIndex:
        """The names of the workspace, or of the file's folder where none is open; ``fresh``: as they are on
        disk now."""
        texts = self.texts
        found = None if fresh else self.indices.get(state.uri)
        if found is None:
            folders = [Path(path) for uri in self.workspace.folders if (path := to_fs_path(uri))]
            found = judge.rename_index(self.question(state), folders or [Path(state.path).parent])
            if fresh:
                self.indices.clear()
            if texts == self.texts:
                self.indices[state.uri] = found
        return found

    async def answer(self, work: Callable[[Any], Any], params: object) -> Any:
        """What a request is answered, worked out beside the conversation, which goes on: it can be cancelled
        until it begins, and what was cancelled later is not sent."""
        work_done = asyncio.get_running_loop().run_in_executor(self.answers, work, params)
        try:
            return await asyncio.wait_for(work_done, ANSWER_S)
        except TimeoutError:
            raise Refusal(TOO_LONG) from None

    def renaming(self, ask: Callable[[RenameIndex], list[SourceSpan]], state: Open) -> list[SourceSpan]:
        """What an index answers; a refusal goes to the editor with its reason."""
        try:
            return ask(self.index(state, fresh=True))
        except RenameRefused as why:
            raise Refusal(str(why)) from None

    # ------------------------------------------------------------ findings

    def tell(self, state: Open, judgement: TextJudgement, keep: bool = False) -> None:
        """Publish what was found, each finding at the file it is about; with ``keep`` those of the earlier
        text, too."""
        if judgement.wrong:
            if judgement.wrong != self.wrong:
                self.window_show_message(
                    lsp.ShowMessageParams(lsp.MessageType.Warning, f"tdsl: {judgement.wrong}")
                )
            self.wrong = judgement.wrong
            return
        self.wrong = ""
        state.shown = judgement
        by_uri: dict[str, list[lsp.Diagnostic]] = {state.uri: []}
        new = {(d.code, d.message) for d in judgement.findings}
        old = (
            [d for d in state.late if (d.code, d.message) not in new and not d.code.startswith("E00")]
            if keep
            else []
        )
        for d in (*judgement.findings, *old):
            uri = state.uri if d.span is None else self.uri(d.span)
            if uri == state.uri or uri not in self.open:  # an open file tells of itself
                by_uri.setdefault(uri, []).append(self.diagnostic(state, d))
        others = by_uri.keys() - {state.uri}
        for uri in self.said.get(state.uri, set()) - others:
            by_uri[uri] = []
        self.said[state.uri] = set(others)
        for uri, found in by_uri.items():
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found))

    def diagnostic(self, state: Open, d: Diagnostic) -> lsp.Diagnostic:
        """A finding in the protocol's words; notes and help stand in its message."""
        words = [d.message + (f" ({d.others_in_words})" if d.others_in_words else "")]
        words += [f"note: {n}" for n in d.notes]
        words += [f"help: {d.help}"] if d.help else []
        words += [f"allowed: {d.allowed}"] if d.allowed else []
        return lsp.Diagnostic(
            self.range(d.span) if d.span is not None else lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0)),
            "\n".join(words),
            severity=SEVERITIES[d.severity],
            code=d.code,
            code_description=self.page_of(d.code),
            source=f"tdsl {catalogue.finding_name(d.code)}",
            tags=[lsp.DiagnosticTag.Unnecessary] if d.severity is Severity.ALLOWED else None,
            related_information=[
                lsp.DiagnosticRelatedInformation(self.location(n.span), n.message) for n in d.labels
            ],
        )

    def page_of(self, code: str) -> lsp.CodeDescription | None:
        """Where the code of a finding leads: the page of `tdsl explain`, None where it cannot be a file."""
        if code not in self.pages:
            self.pages[code] = extras.explanation_file(code)
        page = self.pages[code]
        uri = from_fs_path(str(page)) if page else None
        return lsp.CodeDescription(uri) if uri else None

    def actions(self, state: Open, wanted: lsp.Range) -> list[lsp.CodeAction]:
        """The fixes of findings that touch a range, and for each finding a comment that waives it with a
        reason."""
        out = []
        start, end = self.offset(state, wanted.start), self.offset(state, wanted.end)
        for d in state.shown.findings:
            if d.span is None or self.uri(d.span) != state.uri or d.span.start > end or d.span.end < start:
                continue
            waived = extras.waiver_comment(d)
            if waived is not None:
                at = self.range(SourceSpan(state.file, waived[0], waived[0]))
                edit = lsp.WorkspaceEdit({state.uri: [lsp.TextEdit(at, waived[1])]})
                title = f"waive `{catalogue.finding_name(d.code)}` with a reason"
                out.append(
                    lsp.CodeAction(
                        title,
                        kind=lsp.CodeActionKind.QuickFix,
                        diagnostics=[self.diagnostic(state, d)],
                        edit=edit,
                    )
                )
            if d.fix is None:
                continue
            changes: dict[str, list[lsp.TextEdit]] = {}
            for span, text in d.fix.edits:
                changes.setdefault(self.uri(span), []).append(lsp.TextEdit(self.range(span), text))
            out.append(
                lsp.CodeAction(
                    d.fix.title,
                    kind=lsp.CodeActionKind.QuickFix,
                    diagnostics=[self.diagnostic(state, d)],
                    edit=lsp.WorkspaceEdit(changes),
                    is_preferred=d.fix.safe,
                )
            )
        return sorted(out, key=lambda a: a.title.startswith("waive "))

    # ------------------------------------------------------------ the text

    def formatted(self, state: Open) -> list[lsp.TextEdit]:
        """The whole text in the one layout, if it can be read."""
        if not state.sound:
            return []
        new = format_source(state.file)
        return (
            []
            if new == state.file.text
            else [lsp.TextEdit(self.range(SourceSpan(state.file, 0, len(state.file.text))), new)]
        )

    def symbol(self, s: outline.Symbol) -> lsp.DocumentSymbol:
        """A declaration in the protocol's words."""
        return lsp.DocumentSymbol(
            s.name,
            symbol_kind(s),
            self.range(s.whole),
            self.range(s.place),
            detail=f"{s.kind} {s.detail}".strip(),
            children=[self.symbol(i) for i in s.inner],
        )

    def hover(self, state: Open, at: int) -> lsp.Hover | None:
        """What the word at a place means, with what is known of its declaration; else of the smallest place
        that holds it."""
        facts = (*state.facts, *state.values)
        found = meaning.meaning_at_offset(self.known(state), state.file, at)
        if found is not None and found[1] is not None:
            start, end = found[0].start, found[0].end
            texts = [
                f.text for f in facts if f.start in (start, meaning.declaration_offset(found[1], state.file))
            ]
            words = (
                [*texts, meaning.meaning_as_markdown(found[1])]
                if found[1].kind == "check"
                else [meaning.meaning_as_markdown(found[1]), *texts]
            )
        else:
            word = catalogue.explained_words().get(found[0].text) if found is not None else None
            if found is not None and word is not None:
                example = f"\n\n```fab\n{word.example}\n```" if word.example else ""
                text = lsp.MarkupContent(
                    lsp.MarkupKind.Markdown, f"**{word.word}**, {word.kind}\n\n{word.text}{example}"
                )
                return lsp.Hover(text, self.range(SourceSpan(state.file, found[0].start, found[0].end)))
            held = [f for f in facts if f.start <= at <= f.end]
            if not held:
                return None
            fact = min(held, key=lambda f: f.end - f.start)
            start, end, words = fact.start, fact.end, [fact.text]
        text = lsp.MarkupContent(lsp.MarkupKind.Markdown, "\n\n".join(words))
        return lsp.Hover(text, self.range(SourceSpan(state.file, start, end)))

    # ------------------------------------------------------------ names

    def known(self, state: Open) -> KnownNames:
        """What the names of a text mean."""
        texts, known = self.texts, state.known
        if known is None:
            question = self.question(state)
            try:
                paths = judge.options_of_question(question).paths
            except ConfigError:  # reported with the findings
                paths = ()
            known = KnownNames(state.file, state.body, Path(state.path), question.overlay, paths, state.sets)
            if texts == self.texts:
                state.known = known
        return known

    def completion(self, state: Open, at: int, unasked: bool) -> lsp.CompletionList:
        """What may stand at a place, the likeliest first."""
        start, items = complete_word(self.known(state), state.file, at, unasked)
        where = self.range(SourceSpan(state.file, start, at))
        out = [
            lsp.CompletionItem(
                i.text,
                kind=lsp.CompletionItemKind[COMPLETIONS.get(i.kind, "Module")],
                detail=i.detail or i.kind,
                documentation=lsp.MarkupContent(lsp.MarkupKind.Markdown, i.doc) if i.doc else None,
                sort_text=f"{number:04}",
                text_edit=lsp.TextEdit(where, i.text),
            )
            for number, i in enumerate(items)
        ]
        return lsp.CompletionList(False, [*self.snippets(state, start, where), *out])

    def snippets(self, state: Open, start: int, where: lsp.Range) -> list[lsp.CompletionItem]:
        """Whole statements with places to fill in, where a statement may begin and the editor knows
        snippets."""
        asked = self.client_capabilities.text_document
        item = (
            asked.completion.completion_item if asked is not None and asked.completion is not None else None
        )
        place = context_before_offset(state.file, start)
        if item is None or not item.snippet_support or place.statement:
            return []
        block = place.heads[-1][0].text if place.heads else ""
        known = snippets.TOP if not block else snippets.INSIDE if block in ("fabric", *outline.GROUPS) else {}
        return [
            lsp.CompletionItem(
                word,
                kind=lsp.CompletionItemKind.Snippet,
                detail="statement with places to fill in",
                sort_text=f"0_{word}",
                insert_text_format=lsp.InsertTextFormat.Snippet,
                text_edit=lsp.TextEdit(where, text),
            )
            for word, text in known.items()
        ]

    # ------------------------------------------------------------ beside the text

    def lenses(self, state: Open) -> list[lsp.CodeLens]:
        """Hosts, switches and bisection over each fabric, once it is compiled."""
        figures = dict(state.lenses)
        return [
            lsp.CodeLens(self.range(s.place), lsp.Command(figures[s.name], ""))
            for s in extras.fabric_symbols(state.body)
            if figures.get(s.name)
        ]

    def links(self, state: Open) -> list[lsp.DocumentLink]:
        """The file that each `use` names."""
        found = extras.use_links(state.body, self.known(state).library.loader, Path(state.path).parent)
        return [lsp.DocumentLink(self.range(span), target=from_fs_path(str(path))) for span, path in found]

    def selection(self, state: Open, at: lsp.Position) -> lsp.SelectionRange:
        """What encloses a place, from the smallest part to the whole text."""
        made: lsp.SelectionRange | None = None
        for span in reversed(extras.enclosing_spans(state.body, state.file, self.offset(state, at))):
            made = lsp.SelectionRange(self.range(span), made)
        assert made is not None
        return made

    def declared(self, query: str) -> list[lsp.WorkspaceSymbol]:
        """The declarations of the workspace whose names contain a word."""
        folders = [Path(path) for uri in self.workspace.folders if (path := to_fs_path(uri))]
        folders = folders or list({Path(s.path).parent for s in list(self.open.values())})
        overlay = {str(Path(s.path).resolve()): s.file.text for s in list(self.open.values())}
        return [
            lsp.WorkspaceSymbol(
                self.location(s.place), s.name, symbol_kind(s), container_name=".".join(around) or None
            )
            for s, around in extras.declarations_matching(folders, overlay, query)
        ]

    def signature(self, state: Open, at: int) -> lsp.SignatureHelp | None:
        """The function or topology whose parameters are written at a place."""
        found = meaning.signature_at_offset(self.known(state), state.file, at)
        if found is None:
            return None
        names = [lsp.ParameterInformation(found.label[a:b]) for a, b in found.parameters]
        doc = lsp.MarkupContent(lsp.MarkupKind.Markdown, found.doc) if found.doc else None
        signature = lsp.SignatureInformation(found.label, doc, names)
        return lsp.SignatureHelp([signature], 0, found.active if found.active >= 0 else None)

    def tokens(self, state: Open) -> lsp.SemanticTokens:
        """What each word is."""
        found = colours.colours_of_words(self.known(state))
        return lsp.SemanticTokens(
            colours.colours_as_numbers(
                found, lambda at: positions.editor_position(state.file, at, self.encoding)
            )
        )

    def hints(self, state: Open, wanted: lsp.Range) -> list[lsp.InlayHint]:
        """Counts of device sets behind their names."""
        start, end = self.offset(state, wanted.start), self.offset(state, wanted.end)
        return [
            lsp.InlayHint(
                self.range(SourceSpan(state.file, f.end, f.end)).start,
                f.hint,
                padding_left=True,
                padding_right=True,
            )
            for f in state.facts
            if f.hint and start <= f.end <= end
        ]
