import { hasInner, leaving, shown, staysIn, told } from "./outline.ts";
import type { MoveOutline, Outline, StateOutline } from "./outline.ts";

/** A chart in Mermaid's stateDiagram-v2: for terminals, and for whatever draws Mermaid. */
export function drawMermaid(outline: Outline): string {
  const lines = [
    "stateDiagram-v2",
    `  [*] --> ${idOf(outline.initial)}`,
    ...outline.states.flatMap((state) => mermaidState(outline, state, "  ")),
    ...leaving(outline).map((move) => `  ${idOf(move.from)} --> ${idOf(move.to)}: ${mermaidLabel(move)}`),
  ];
  return `${lines.join("\n")}\n`;
}

function mermaidState(outline: Outline, state: StateOutline, indent: string): string[] {
  const id = idOf(state.path);
  const inside = [
    ...shown(state.entry).map((deed) => `entry / ${told(deed)}`),
    ...shown(state.exit).map((deed) => `exit / ${told(deed)}`),
    ...staysIn(outline, state.path).map(mermaidLabel),
  ];
  if (hasInner(state)) {
    const deeper = `${indent}  `;
    return [
      `${indent}state "${[state.name, ...inside].join("<br/>")}" as ${id} {`,
      ...(state.initial === null ? [] : [`${deeper}[*] --> ${idOf(state.initial)}`]),
      ...state.states.flatMap((inner) => mermaidState(outline, inner, deeper)),
      `${indent}}`,
    ];
  }
  return [
    `${indent}state "${[state.name, ...inside].join("<br/>")}" as ${id}`,
    ...(state.isFinal ? [`${indent}${id} --> [*]`] : []),
  ];
}

function mermaidLabel({ event, guard, does }: MoveOutline): string {
  const head = [event ?? "", guard === null ? "" : `[${guard}]`].filter((part) => part !== "").join(" ");
  const deeds = shown(does).map(told);
  return deeds.length === 0 ? head : `${head} /<br/>${deeds.join("<br/>")}`;
}

function idOf(path: string): string {
  return path.replaceAll(".", "_");
}
