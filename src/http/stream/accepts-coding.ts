/**
 * Does the client accept this coding? Its own weight decides, or that of `*` if it is not named; case does not matter.
 */
export function acceptsCoding(coding: "gzip" | "br", header: string | undefined): boolean {
  let wildcard = false;
  for (const item of header?.toLowerCase().split(",") ?? []) {
    // A header may have thousands of items: skips most of them cheaply.
    if (!item.includes(coding) && !item.includes("*")) continue;
    const [name, ...parameters] = item.split(";").map((part) => part.trim());
    if (name !== coding && name !== "*") continue;
    const weight = parameters.find((parameter) => /^q\s*=/.test(parameter));
    const wanted = weight === undefined || Number(weight.slice(weight.indexOf("=") + 1)) > 0;
    if (name === coding) return wanted;
    wildcard = wanted;
  }
  return wildcard;
}
