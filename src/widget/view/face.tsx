import type { VNode } from "preact";
import { CHAT, Icon } from "./icons.tsx";

/** Who answers: a picture, over the name's first letter where there is one for a person, and over an icon for the assistant. */
export function Face({
  person,
  picture,
}: {
  /** A person's name; absent: the assistant. */
  person?: string | undefined;
  /** Not seen where the page's policy forbids it. */
  picture: string | null | undefined;
}): VNode {
  return (
    <span class={person === undefined ? "face" : "face human"} aria-hidden="true">
      {person === undefined ? (
        <Icon path={CHAT} />
      ) : (
        String.fromCodePoint(person.codePointAt(0) ?? 32).toUpperCase()
      )}
      {picture && <img src={picture} alt="" />}
    </span>
  );
}
