"""The results of `mazurka bench context-bounded`, and as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from mazurka.bench.contest import MAZURKA, Played
from mazurka.bench.context_bounded_queue import CB_DFS, CB_POR, PUBLISHED, Column
from mazurka.version import __version__


@dataclass(frozen=True, kw_only=True)
class Compared:
    """Mazurka and a peer, on the programs that both get right."""

    peer: str
    programs: int
    seconds: tuple[float, float]
    executions: tuple[int, int] | None
    """None if the peer does not tell."""

    @property
    def faster(self) -> float | None:
        """How many times the peer's executions a second ours are."""
        if self.executions is None or not all(self.executions) or not all(self.seconds):
            return None
        ours, theirs = (
            count / seconds for count, seconds in zip(self.executions, self.seconds, strict=True)
        )
        return ours / theirs

    @property
    def sooner(self) -> float | None:
        """How many times our seconds the peer's are."""
        return self.seconds[1] / self.seconds[0] if all(self.seconds) else None

    def to_json(self) -> dict[str, object]:
        return {
            "peer": self.peer,
            "programs": self.programs,
            "seconds": {MAZURKA: self.seconds[0], self.peer: self.seconds[1]},
            "executions": None
            if self.executions is None
            else {MAZURKA: self.executions[0], self.peer: self.executions[1]},
            "executions_a_second_ratio": self.faster,
            "seconds_ratio": self.sooner,
        }


@dataclass(frozen=True, kw_only=True)
class Results:
    quick: bool
    repeat: int
    limit_seconds: float
    program_seconds: float
    """The limit of a tool on a program."""
    columns: tuple[Column, ...]
    played: tuple[Played, ...]
    peers: dict[str, str | None]
    interrupted: bool = False

    def column(self, subject: str, size: int, algorithm: str) -> Column | None:
        for column in self.columns:
            if (column.subject, column.size, column.algorithm) == (subject, size, algorithm):
                return column
        return None

    def pairs(self) -> Iterator[tuple[Column, Column]]:
        """The two searches of the same thing, cb-dfs first."""
        for column in self.columns:
            other = self.column(column.subject, column.size, CB_POR)
            if column.algorithm == CB_DFS and other is not None:
                yield column, other

    def of_tool(self, tool: str) -> dict[str, Played]:
        return {played.program.name: played for played in self.played if played.tool == tool}

    @property
    def tools(self) -> list[str]:
        return list(dict.fromkeys(played.tool for played in self.played))

    @property
    def wrong(self) -> list[str]:
        """A sentence for each result that cannot be right."""
        wrong = [
            f"{played.program.name}: {played.outcome}, {_said(played)}; it should be"
            f" {played.program.failure or 'nothing'}."
            for played in self.of_tool(MAZURKA).values()
            if not played.is_right
        ]
        for dfs, por in self.pairs():
            for cell in dfs.cells:
                more, fewer = cell.executions, por.executions(cell.bound)
                if more is not None and fewer is not None and fewer > more:
                    wrong.append(
                        f"{dfs.subject}, size {dfs.size}, bound {cell.bound}: cb-por runs {fewer:,}"
                        f" executions, and there are {more:,}."
                    )
        return wrong

    @property
    def compared(self) -> list[Compared]:
        return [self._compare(tool) for tool in self.tools if tool != MAZURKA]

    def _compare(self, peer: str) -> Compared:
        ours, theirs = self.of_tool(MAZURKA), self.of_tool(peer)
        both = [
            (ours[name].answer, theirs[name].answer)
            for name in theirs
            if name in ours and ours[name].is_right and theirs[name].is_right
        ]
        known = all(a.executions is not None and b.executions is not None for a, b in both)
        return Compared(
            peer=peer,
            programs=len(both),
            seconds=(sum(a.seconds for a, _ in both), sum(b.seconds for _, b in both)),
            executions=(
                sum(a.executions or 0 for a, _ in both),
                sum(b.executions or 0 for _, b in both),
            )
            if known
            else None,
        )

    def to_json(self) -> dict[str, object]:
        return {
            "tool": "mazurka",
            "version": __version__,
            "benchmark": "context-bounded",
            "quick": self.quick,
            "repeat": self.repeat,
            "limit_seconds": self.limit_seconds,
            "program_limit_seconds": self.program_seconds,
            "interrupted": self.interrupted,
            "wrong": self.wrong,
            "table": [cell for column in self.columns for cell in _cells(column)],
            "peers": self.peers,
            "programs": [played.to_json() for played in self.played],
            "comparison": [compared.to_json() for compared in self.compared],
        }


def _said(played: Played) -> str:
    answer = played.answer
    return answer.error or f"found {answer.failure or 'nothing'}"


def _cells(column: Column) -> Iterator[dict[str, object]]:
    published = PUBLISHED.get((column.size, column.algorithm), ())
    for cell in column.cells:
        yield {
            "subject": column.subject,
            "size": column.size,
            "algorithm": column.algorithm,
            "bound": cell.bound,
            "executions": cell.executions,
            "seconds": None if cell.seconds is None else round(cell.seconds, 6),
            "paper": published[cell.bound] if cell.bound < len(published) else None,
            "limits": list(cell.limits),
        }
