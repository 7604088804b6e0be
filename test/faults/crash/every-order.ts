/**
 * Every order in which actors can take their steps, and every place where one of them can die. An actor waits at its
 * gate before each step; one play lets one actor at a time take one, and what was chosen says what the next play
 * chooses otherwise. No state is kept between plays: each begins anew.
 */
export interface Gate {
  /** Before a step: resolves when it is this actor's turn; never, where it dies here. */
  pass(): Promise<void>;
}

export interface Actor {
  act(gate: Gate): Promise<unknown>;
  /** It may die before any step, and after its last one. */
  mayDie?: boolean;
}

/** Plays every order; `play` makes the actors of one play, and `judge` is called when all of them are done or dead. */
export async function inEveryOrder(
  play: () => Promise<{ actors: Actor[]; judge: (order: string) => Promise<void> }>,
): Promise<void> {
  for (let choices: Choice[] | null = []; choices;) {
    const { actors, judge } = await play();
    const made: Choice[] = await playOnce(actors, choices);
    await judge(made.map(({ move }) => move).join(" "));
    choices = nextChoices(made);
  }
}

/** One of the moves that were possible, told as the actor's number, and `†` where it dies. */
interface Choice {
  index: number;
  of: number;
  move: string;
}

/** The last choice that could have been another one is made otherwise; null: all were played. */
function nextChoices(made: readonly Choice[]): Choice[] | null {
  const last = made.findLastIndex(({ index, of }) => index + 1 < of);
  const choice = made[last];
  return choice ? [...made.slice(0, last), { ...choice, index: choice.index + 1 }] : null;
}

async function playOnce(actors: readonly Actor[], prefix: readonly Choice[]): Promise<Choice[]> {
  const made: Choice[] = [];
  const waiting = new Map<number, () => void>();
  let moved: (failure?: Error) => void = () => {};

  /** Resolves when whoever moves now stands at its gate again, or has ended. */
  const untilMoved = (move: () => void) =>
    new Promise<void>((resolve, reject) => {
      moved = (failure) => (failure ? reject(failure) : resolve());
      move();
    });

  function begin(index: number, actor: Actor): void {
    const pass = () =>
      new Promise<void>((open) => {
        waiting.set(index, open);
        moved();
      });
    actor.act({ pass }).then(
      () => moved(),
      (error: unknown) => moved(new Error(`Cannot go on with actor ${index}`, { cause: error })),
    );
  }

  for (const [index, actor] of actors.entries()) await untilMoved(() => begin(index, actor));
  while (waiting.size > 0) {
    const moves = [...waiting.keys()].flatMap((actor) =>
      actors[actor]?.mayDie ? [`${actor}`, `${actor}†`] : [`${actor}`],
    );
    const index = prefix[made.length]?.index ?? 0;
    const move = moves[index];
    if (move === undefined) throw new Error("Cannot play an order again: its steps are others now");
    made.push({ index, of: moves.length, move });
    const actor = Number.parseInt(move, 10);
    const open = waiting.get(actor);
    waiting.delete(actor);
    if (open && !move.endsWith("†")) await untilMoved(open);
  }
  return made;
}
