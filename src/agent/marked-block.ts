/** JSON in a tag that its content cannot close: every `<` and `>` in it is escaped. */
export function markedBlock(tag: string, content: object): string {
  const json = JSON.stringify(content).replaceAll("<", "\\u003c").replaceAll(">", "\\u003e");
  return `<${tag}>\n${json}\n</${tag}>`;
}
