import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { root } from "./answers.ts";
import { BUILD_SCRIPTS } from "./house.ts";

export interface Import {
  from: string;
  /** A file of the house by its path from the root, or a package's name. */
  to: string;
  /** Loaded with the file, and not only when it is used. */
  eager: boolean;
  typeOnly: boolean;
}

/** Every file of machines/ and src/ by its path from the root, and its text; declarations that are published, too. */
export function sourcesOfHouse(): Map<string, string> {
  const paths = ["machines", "src"]
    .flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).map((name) =>
        join(folder, name),
      ),
    )
    .filter((file) => /\.(tsx?|mjs)$/.test(file) && !BUILD_SCRIPTS.includes(file));
  return new Map(paths.map((file) => [file, readFileSync(join(root, file), "utf8")]));
}

/** What a file with this text imports. */
export function importsOf(file: string, text: string): Import[] {
  const statements = [
    ...text.matchAll(/^import\s+(type\s)?(?:[^;"']*?\sfrom\s+)?["']([^"']+)["']/gm),
    ...text.matchAll(/^export\s+(type\s)?[*{][^;"']*?\sfrom\s+["']([^"']+)["']/gm),
  ];
  const calls = text.matchAll(/\bimport\(\s*["']([^"']+)["']\s*\)/g);
  return [
    ...statements.map((match) => found(match[2] ?? "", true, match[1] !== undefined)),
    ...[...calls].map((match) => found(match[1] ?? "", false, false)),
  ];

  function found(specifier: string, eager: boolean, typeOnly: boolean): Import {
    const to = specifier.startsWith(".") ? relative(root, join(root, dirname(file), specifier)) : specifier;
    return { from: file, to, eager, typeOnly };
  }
}
