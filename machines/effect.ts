/**
 * The effects of a chart, as a closed union made of the table that declares them: `{ type }` for an action without
 * parameters, `{ type, params }` for one that takes some.
 */
export type EffectOf<Table extends Record<string, (...args: never[]) => void>> = {
  [Name in keyof Table & string]: Parameters<Table[Name]> extends [unknown, infer Params]
    ? { type: Name; params: Params }
    : { type: Name };
}[keyof Table & string];
