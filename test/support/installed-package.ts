import { execFileSync } from "node:child_process";
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** What `npm pack` gives, unpacked in `folder`, beside the packages that it depends on. Returns where it is. */
export function unpackPackage(folder: string): string {
  const packed = execFileSync("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], {
    cwd: root,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [{ filename } = { filename: "" }] = JSON.parse(packed.toString()) as { filename: string }[];
  execFileSync("tar", ["-xzf", join(folder, filename)], { cwd: folder });
  symlinkSync(join(root, "node_modules"), join(folder, "package", "node_modules"));
  return join(folder, "package");
}
