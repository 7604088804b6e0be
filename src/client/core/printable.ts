/**
 * Text of a stranger as a person may safely read it: characters that are not seen become U+FFFD. Some of them change the
 * order in which the rest is read, so that one value looks like another: the marks U+200E, U+200F and U+061C as well as the
 * overrides and isolates. Kept are line ends and tabs, Arabic signs that are seen, and where a script or an emoji needs
 * them: one joiner between letters that are not ASCII, one variation selector, and the tags of a flag.
 */
export function printable(text: string): string {
  return text.replace(UNSEEN, "\u{fffd}");
}

const UNSEEN =
  // eslint-disable-next-line no-control-regex, no-misleading-character-class -- joiners and selectors are what it is about
  /(?![\t\n\u0600-\u0605\u06dd\u200c\u200d\ufe00-\ufe0f\u{e0100}-\u{e01ef}]|(?<=\u{1f3f4}[\u{e0020}-\u{e007e}]{0,6})[\u{e0020}-\u{e007f}])[\p{Cc}\p{Cf}\p{Cs}\p{DI}\p{Zl}\p{Zp}]|(?<=[\0-\x7f\u200c\u200d])[\u200c\u200d]|[\u200c\u200d](?=[\0-\x7f])|(?<=[\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;

/** What a tool would be called with, as a person is shown it. */
export function printableArguments(args: Readonly<Record<string, unknown>>): [name: string, value: string][] {
  return Object.entries(args).map(([name, value]) => [
    printable(name),
    printable(typeof value === "string" ? value : JSON.stringify(value)),
  ]);
}
