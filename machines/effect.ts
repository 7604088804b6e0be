/**
 * The effects of a chart as a closed union, derived from the table that declares them: `{ type }` for an action without
 * parameters, `{ type, params }` for one with parameters.
 */
export type EffectOf<Table extends Record<string, (...args: never[]) => void>> = {
  [Name in keyof Table & string]: Parameters<Table[Name]> extends [unknown, infer Params]
    ? { type: Name; params: Params }
    : { type: Name };
}[keyof Table & string];
