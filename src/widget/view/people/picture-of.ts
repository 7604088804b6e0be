import type { ViewState } from "../view-state.ts";

/** The picture of a person who answers in the conversation; undefined: there is none, or it is not known. */
export function pictureOf(name: string, { people }: Pick<ViewState, "people">): string | undefined {
  return people?.items.findLast((change) => change.name === name)?.picture;
}
