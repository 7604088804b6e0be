import type { AnyStateMachine, StateValueFrom } from "xstate";

type PathOf<Value> = Value extends string
  ? Value
  : { [Name in keyof Value & string]: `${Name}.${PathOf<NonNullable<Value[Name]>>}` }[keyof Value & string];

type OuterOf<Path> = Path extends `${infer Outer}.${string}` ? Outer : never;

type InnermostOf<Path> = Exclude<Path, OuterOf<Path>>;

/** The innermost states of a chart by their paths, as a run's recorded path names them: `running.thinking`. */
export type StatePath<Machine extends AnyStateMachine> = InnermostOf<PathOf<StateValueFrom<Machine>>>;
