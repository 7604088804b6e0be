/**
 * Text of the model or the page in a question to the visitor, without control characters: some change the reading
 * direction, and so make one value look like another. The command line shows text in the same way.
 */
export function printable(text: string): string {
  // eslint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "\u{fffd}");
}
