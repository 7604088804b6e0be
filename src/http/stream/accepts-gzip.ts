/** May the answer be compressed? The weight of gzip decides, or that of `*` if gzip is not named; case does not matter. */
export function acceptsGzip(header: string | undefined): boolean {
  let wildcard = false;
  for (const item of header?.toLowerCase().split(",") ?? []) {
    const [name, ...parameters] = item.split(";").map((part) => part.trim());
    if (name !== "gzip" && name !== "*") continue;
    const weight = parameters.find((parameter) => /^q\s*=/.test(parameter));
    const wanted = weight === undefined || Number(weight.slice(weight.indexOf("=") + 1)) > 0;
    if (name === "gzip") return wanted;
    wildcard = wanted;
  }
  return wildcard;
}
