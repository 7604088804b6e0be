import type { AnyStateMachine, AnyStateNode } from "xstate";

/**
 * A chart as plain data: what there is to draw. States are named by their path (`running.thinking`), as the snapshot
 * and a run's recorded path name them.
 */
export interface Outline {
  id: string;
  states: StateOutline[];
  /** Path of the state in which it begins. */
  initial: string;
  moves: MoveOutline[];
}

export interface StateOutline {
  path: string;
  name: string;
  isFinal: boolean;
  /** Path of the inner state in which it begins; null where it has none. */
  initial: string | null;
  entry: Deed[];
  exit: Deed[];
  states: StateOutline[];
}

export interface MoveOutline {
  /** Unique in the chart: `running.thinking/agent.called/0`. */
  id: string;
  from: string;
  /** null: it stays where it is, and enters nothing anew. */
  to: string | null;
  /** null: taken at once, without an event. */
  event: string | null;
  /** `else`: the last of several, taken where no guard before it holds. */
  guard: string | null;
  does: Deed[];
}

/** What an action is to the outside: a line that is emitted, an effect for the host, or a change of the context. */
export interface Deed {
  kind: "line" | "effect" | "context";
  name: string;
  /** Fixed parameters worth a word: an outcome, an error's code. */
  detail: string;
}

export function outlineOf(machine: AnyStateMachine): Outline {
  const { root } = machine;
  return {
    id: root.id,
    states: children(root).map((node) => stateOf(node)),
    initial: initialOf(root) ?? "",
    moves: descendants(root).flatMap(movesOf),
  };
}

function children(node: AnyStateNode): AnyStateNode[] {
  return Object.values(node.states);
}

function descendants(node: AnyStateNode): AnyStateNode[] {
  return children(node).flatMap((child) => [child, ...descendants(child)]);
}

function pathOf(node: AnyStateNode): string {
  return node.path.join(".");
}

function initialOf(node: AnyStateNode): string | null {
  const first = node.type === "compound" ? node.initial.target?.[0] : undefined;
  return first ? pathOf(first) : null;
}

function stateOf(node: AnyStateNode): StateOutline {
  return {
    path: pathOf(node),
    name: node.key,
    isFinal: node.type === "final",
    initial: initialOf(node),
    entry: node.entry.map((action) => deedOf(node, action)),
    exit: node.exit.map((action) => deedOf(node, action)),
    states: children(node).map(stateOf),
  };
}

interface Transition {
  target: readonly unknown[] | undefined;
  guard?: unknown;
  actions: readonly unknown[];
}

function movesOf(node: AnyStateNode): MoveOutline[] {
  const byEvent: [string | null, readonly Transition[]][] = [
    [null, node.always ?? []],
    ...[...node.transitions].filter(([event]) => event !== ""),
  ];
  return byEvent.flatMap(([event, branches]) =>
    branches.map((branch, at) => {
      // A cast: xstate types the targets of any machine as unknown; they are state nodes.
      const target = branch.target?.[0] as AnyStateNode | undefined;
      const isElse = branch.guard === undefined && at > 0;
      return {
        id: `${pathOf(node)}/${event ?? "at once"}/${at}`,
        from: pathOf(node),
        to: target ? pathOf(target) : null,
        event,
        guard: isElse ? "else" : nameOf(branch.guard),
        does: branch.actions.map((action) => deedOf(node, action)),
      };
    }),
  );
}

function deedOf(node: AnyStateNode, action: unknown): Deed {
  const name = nameOf(action) ?? "";
  return { kind: kindOf(node, name), name, detail: detailOf(action) };
}

/** XState marks the actions that it performs itself; whatever is left is for the host. */
function kindOf(node: AnyStateNode, name: string): Deed["kind"] {
  const built: unknown = node.machine.implementations.actions[name];
  const type = typeof built === "function" && "type" in built ? built.type : null;
  // Several lines, such as a step of each call under way.
  if (type === "xstate.emit" || type === "xstate.enqueueActions") return "line";
  return type === "xstate.assign" ? "context" : "effect";
}

function nameOf(named: unknown): string | null {
  if (typeof named === "string") return named;
  if (typeof named !== "object" || named === null || !("type" in named)) return null;
  return String(named.type);
}

/** Single words among fixed parameters; sentences and what is only known later are left out. */
function detailOf(action: unknown): string {
  if (typeof action !== "object" || action === null || !("params" in action)) return "";
  const { params } = action;
  if (typeof params !== "object" || params === null) return "";
  return Object.values(params)
    .filter((value): value is string => typeof value === "string" && /^\w+$/.test(value))
    .join(" ");
}

export function told({ name, detail }: Deed): string {
  return detail === "" ? name : `${name} ${detail}`;
}

/** What a picture tells of what is done: all but changes of the context. */
export function shown(deeds: readonly Deed[]): Deed[] {
  return deeds.filter(({ kind }) => kind !== "context");
}

/** Moves that leave the state as it is: they are drawn in it. */
export function staysIn(outline: Outline, path: string): MoveOutline[] {
  return outline.moves.filter(({ from, to }) => from === path && to === null);
}

/** Moves from state to state: they are drawn as ways. */
export function leaving(outline: Outline): (MoveOutline & { to: string })[] {
  return outline.moves.flatMap((move) => (move.to === null ? [] : [{ ...move, to: move.to }]));
}

export function hasInner({ states }: StateOutline): boolean {
  return states.length > 0;
}
