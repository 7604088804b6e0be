/**
 * Runs a chart of machines/ in the page: takes a state and an event, and returns the next state and the effects, as data.
 * It knows only what machines/tab.ts uses of XState. test/widget/without-browser/chart.test.ts refuses a chart that uses
 * more, and shows that this and XState decide the same for every sequence of events.
 */

/** The fields of XState's machine that are read here; xstate.ts makes the same. */
export interface Chart {
  readonly config: object;
  readonly implementations: { readonly guards: object; readonly actions: object };
}

/** Where a chart is: its innermost state by its path (`active.calling.asking`), and its context. */
export interface ChartState<Context> {
  path: string;
  context: Context;
}

export interface Decision<Context, Effect> extends ChartState<Context> {
  /** Names of actions without code, in the chart's order. */
  effects: Effect[];
}

interface Given {
  context: object;
  event: { type: string };
}

interface Branch {
  guard?: string;
  target?: string;
  reenter?: boolean;
  actions?: string | readonly string[];
}

interface StateNode {
  initial?: string;
  entry?: string;
  exit?: string;
  on?: Readonly<Record<string, Branch | readonly Branch[]>>;
  states?: Readonly<Record<string, StateNode>>;
}

type Guards = Readonly<Record<string, (given: Given) => boolean>>;
type Actions = Readonly<Record<string, { assignment?: unknown }>>;

/** Where the chart begins. */
export function beginningOf<Context>({ config }: Chart): ChartState<Context> {
  const root = config as StateNode & { context: Context };
  return { path: innermost(root, []).join("."), context: root.context };
}

/** The innermost state that has a branch for the event, and the first of its branches that may be taken, decide. */
export function transition<Context extends object, Effect>(
  { config, implementations }: Chart,
  { path, context: before }: ChartState<Context>,
  event: { type: string },
): Decision<Context, Effect> {
  // Casts: the chart is typed where it is written, and its test knows every form that it takes.
  const root = config as StateNode;
  const guards = implementations.guards as Guards;
  const actions = implementations.actions as Actions;
  const from = path.split(".");
  let context: object = before;
  let to = from;
  const effects: unknown[] = [];

  function perform(given: string | readonly string[] | undefined): void {
    for (const name of listOf(given)) {
      const assignment = actions[name]?.assignment;
      if (assignment === undefined) effects.push(name);
      else {
        // Casts: a change of the context is an object, or a function of context and event that returns one.
        const change: unknown =
          typeof assignment === "function"
            ? (assignment as (given: Given) => unknown)({ context, event })
            : assignment;
        context = { ...context, ...(change as object) };
      }
    }
  }

  for (let depth = from.length; depth >= 0; depth -= 1) {
    const source = from.slice(0, depth);
    const branch = listOf(nodeAt(root, source).on?.[event.type]).find(
      ({ guard }) => guard === undefined || guards[guard]?.({ context, event }),
    );
    if (branch === undefined) continue;
    const { target, reenter } = branch;
    if (target === undefined) perform(branch.actions);
    else {
      const named = target[0] === "#" ? target.split(".").slice(1) : [...source.slice(0, -1), target];
      to = innermost(root, named);
      // States around both ends are neither left nor entered.
      let shared = 0;
      while (shared < source.length && source[shared] === named[shared]) shared += 1;
      if (reenter || shared < source.length) shared = Math.min(shared, source.length - 1, named.length - 1);
      for (let inner = from.length; inner > shared; inner -= 1)
        perform(nodeAt(root, from.slice(0, inner)).exit);
      perform(branch.actions);
      for (let inner = shared + 1; inner <= to.length; inner += 1)
        perform(nodeAt(root, to.slice(0, inner)).entry);
    }
    break;
  }
  return { path: to.join("."), context: context as Context, effects: effects as Effect[] };
}

function nodeAt(root: StateNode, path: readonly string[]): StateNode {
  return path.reduce<StateNode>((node, name) => node.states?.[name] ?? {}, root);
}

function innermost(root: StateNode, path: string[]): string[] {
  const { initial } = nodeAt(root, path);
  return initial === undefined ? path : innermost(root, [...path, initial]);
}

function listOf<One>(given: One | readonly One[] | undefined): readonly One[] {
  return given === undefined ? [] : ([given].flat() as One[]);
}
