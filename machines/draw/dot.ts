import { hasInner, leaving, shown, staysIn, told } from "./outline.ts";
import type { MoveOutline, Outline, StateOutline } from "./outline.ts";

/**
 * A chart as a picture: DOT for Graphviz; mermaid.ts draws the same as text.
 *
 * A state carries its entry effects and the events that leave it as it is. Each other move stands on the way from state
 * to state: the event, its [guard], the lines that it emits and the effects that it names. Changes of the context are
 * left out: they are the code's business.
 */

/** Colours of the picture on paper; on a dark ground each is exchanged for its partner. */
const PALETTE = {
  ink: { light: "#22272e", dark: "#e6e4df" },
  quiet: { light: "#69707a", dark: "#a2a9b3" },
  edge: { light: "#8a919b", dark: "#858c96" },
  state: { light: "#ffffff", dark: "#24272c" },
  stateEdge: { light: "#4d5661", dark: "#9aa2ad" },
  room: { light: "#f6f5f1", dark: "#1c1e22" },
  roomEdge: { light: "#c9c5ba", dark: "#4a4d53" },
  move: { light: "#eef1f4", dark: "#2d3138" },
  line: { light: "#0b6b50", dark: "#7fd6b6" },
  effect: { light: "#9a4a10", dark: "#f0b27c" },
} as const;

/** The stylesheet of the charts' pictures on a dark ground. */
export const DARK_SIDE = darkSide(Object.values(PALETTE));

/** A stylesheet for a picture on a dark ground: Graphviz writes colours as attributes, which any rule overrides. */
export function darkSide(palette: readonly { light: string; dark: string }[]): string {
  const rules = palette.map(
    ({ light, dark }) => `[fill="${light}"]{fill:${dark}}[stroke="${light}"]{stroke:${dark}}`,
  );
  return `@media (prefers-color-scheme: dark){${rules.join("")}}`;
}

/**
 * DOT for Graphviz. States have the id `CHART.PATH`, moves `CHART.FROM/EVENT/N`: a page lights them by these. Moves with
 * the same two ends share one box on the way.
 */
export function drawDot(outline: Outline): string {
  const ways = waysOf(outline);
  const order = pathsOf(outline.states);
  const text = `fontname="Arial" fontcolor="${PALETTE.ink.light}" fontsize=14`;
  const lines = [
    `digraph ${quoted(outline.id)} {`,
    `  graph [rankdir=TB compound=true bgcolor=transparent nodesep=0.3 ranksep=0.3 pad=0.2 ${text}]`,
    `  node [shape=box style="rounded,filled" ${text} color="${PALETTE.stateEdge.light}" fillcolor="${PALETTE.state.light}" margin="0.14,0.07" penwidth=1.4]`,
    `  edge [color="${PALETTE.edge.light}" arrowsize=0.8 penwidth=1.3]`,
    ...room({ initial: outline.initial, states: outline.states, path: "" }, "  "),
    "}",
  ];
  return `${lines.join("\n")}\n`;

  /** What is inside a compound state, or the chart: where it begins, its states, and the ways among them. */
  function room(
    { initial, states, path }: Pick<StateOutline, "initial" | "states" | "path">,
    indent: string,
  ): string[] {
    const dot = quoted(`begin:${path}`);
    return [
      ...(initial === null
        ? []
        : [
            `${indent}${dot} [shape=circle width=0.13 fixedsize=true label="" class="begin" fillcolor="${PALETTE.stateEdge.light}"]`,
            `${indent}${dot} -> ${anchor(initial)} [class="way"${cut("lhead", initial)}]`,
          ]),
      ...states.flatMap((state) => dotState(state, indent)),
      ...ways.filter((way) => commonRoom(way) === path).flatMap((way) => dotWay(way, indent)),
    ];
  }

  function dotState(state: StateOutline, indent: string): string[] {
    const rows = [bold(state.name), ...insideOf(outline, state)];
    const id = `id=${quoted(`${outline.id}.${state.path}`)}`;
    if (!hasInner(state)) {
      const rim = state.isFinal ? " peripheries=2" : "";
      return [`${indent}${quoted(state.path)} [${id} class="state"${rim} label=<${table(rows)}>]`];
    }
    const deeper = `${indent}  `;
    return [
      `${indent}subgraph ${quoted(`cluster_${state.path}`)} {`,
      `${deeper}graph [${id} class="state" style="rounded,filled" color="${PALETTE.roomEdge.light}" fillcolor="${PALETTE.room.light}" margin=16 labeljust=l label=<${table(rows)}>]`,
      ...room(state, deeper),
      `${indent}}`,
    ];
  }

  /** A box on the way: a line leads to it, and an arrow from it. */
  function dotWay({ from, to, moves }: Way, indent: string): string[] {
    const name = quoted(`${from} to ${to}`);
    const boxes = moves.map((move) => {
      const id = quoted(`${outline.id}.${move.id}`);
      return `<TABLE ID=${id} TOOLTIP=${quoted(tooltip(move))} BGCOLOR="${PALETTE.move.light}" STYLE="ROUNDED" BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="5"><TR><TD ALIGN="LEFT">${table(rowsOf(move))}</TD></TR></TABLE>`;
    });
    const node = `${indent}${name} [shape=plain fillcolor=transparent label=<${table(boxes)}>]`;
    // The order of the states is the reading order, top down: a way that leads back is laid out from its end.
    if (order.indexOf(to) < order.indexOf(from)) {
      return [
        node,
        `${indent}${anchor(to)} -> ${name} [class="way" dir=back${cut("ltail", to)}]`,
        `${indent}${name} -> ${anchor(from)} [class="way" arrowhead=none${cut("lhead", from)}]`,
      ];
    }
    return [
      node,
      `${indent}${anchor(from)} -> ${name} [class="way" arrowhead=none${cut("ltail", from)}]`,
      `${indent}${name} -> ${anchor(to)} [class="way"${cut("lhead", to)}]`,
    ];
  }

  /** Graphviz draws from node to node: an arrow of a compound state is one of a state within, cut at the outer one's edge. */
  function anchor(path: string): string {
    const initial = find(outline.states, path)?.initial;
    return initial ? anchor(initial) : quoted(path);
  }

  function cut(end: "ltail" | "lhead", path: string): string {
    return find(outline.states, path)?.initial ? ` ${end}=${quoted(`cluster_${path}`)}` : "";
  }
}

/** The moves from one state to another. */
interface Way {
  from: string;
  to: string;
  moves: MoveOutline[];
}

function waysOf(outline: Outline): Way[] {
  const ways: Way[] = [];
  for (const move of leaving(outline)) {
    const way = ways.find(({ from, to }) => from === move.from && to === move.to);
    if (way) way.moves.push(move);
    else ways.push({ from: move.from, to: move.to, moves: [move] });
  }
  return ways;
}

function pathsOf(states: readonly StateOutline[]): string[] {
  return states.flatMap((state) => [state.path, ...pathsOf(state.states)]);
}

function tooltip({ from, to, event, guard }: MoveOutline): string {
  return `${from} to ${to}: ${event ?? "at once"}${guard === null ? "" : ` [${guard}]`}`;
}

/** Path of the innermost compound state that holds both ends of a move; an empty one for the chart. */
function commonRoom({ from, to }: { from: string; to: string }): string {
  const [a, b] = [from.split(".").slice(0, -1), to.split(".").slice(0, -1)];
  return a.filter((name, at) => b[at] === name).join(".");
}

function find(states: readonly StateOutline[], path: string): StateOutline | null {
  for (const state of states) {
    const found = state.path === path ? state : find(state.states, path);
    if (found) return found;
  }
  return null;
}

function insideOf(outline: Outline, state: StateOutline): string[] {
  return [
    ...shown(state.entry).map(
      (deed) => `${coloured("on entry ", "quiet")}${coloured(told(deed), deed.kind)}`,
    ),
    ...shown(state.exit).map((deed) => `${coloured("on exit ", "quiet")}${coloured(told(deed), deed.kind)}`),
    ...staysIn(outline, state.path).map(({ event, does }) =>
      [coloured(event ?? "", "quiet"), ...shown(does).map((deed) => coloured(told(deed), deed.kind))].join(
        " ",
      ),
    ),
  ];
}

function rowsOf({ event, guard, does }: MoveOutline): string[] {
  return [
    ...(event === null ? [] : [bold(event)]),
    ...(guard === null ? [] : [coloured(`[${guard}]`, event === null ? "ink" : "quiet")]),
    ...shown(does).map((deed) => coloured(told(deed), deed.kind)),
  ];
}

function table(rows: readonly string[]): string {
  const cells = rows.map((row) => `<TR><TD ALIGN="LEFT">${row}</TD></TR>`).join("");
  return `<TABLE BORDER="0" CELLBORDER="0" CELLSPACING="0" CELLPADDING="1">${cells}</TABLE>`;
}

function bold(text: string): string {
  return `<B>${escaped(text)}</B>`;
}

function coloured(text: string, colour: keyof typeof PALETTE | "context"): string {
  const { light } = PALETTE[colour === "context" ? "quiet" : colour];
  return `<FONT COLOR="${light}" POINT-SIZE="12">${escaped(text)}</FONT>`;
}

function escaped(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}
