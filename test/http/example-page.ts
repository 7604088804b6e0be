import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { openHttpServer } from "../support/servers/http-server.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * The first example in a language of a README in src/http, as the script of a page: it begins with the service's address.
 * `packages`: the folder that its imports resolve in.
 */
export async function exampleScript(
  readme: string,
  language: "js" | "jsx" | "tsx",
  { service, packages = root }: { service: string; packages?: string },
): Promise<string> {
  const text = readFileSync(`${root}/src/http/${readme}`, "utf8");
  const example = new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "ms").exec(text)?.[1] ?? "";
  const { outputFiles } = await build({
    stdin: {
      contents: example.replace(/"https:\/\/chat.example.com"/, JSON.stringify(service)),
      resolveDir: packages,
      loader: language,
    },
    bundle: true,
    write: false,
    outdir: root,
    format: "esm",
    jsx: "automatic",
    loader: { ".woff": "empty", ".woff2": "empty", ".ttf": "empty" },
    define: { "process.env.NODE_ENV": '"production"' },
  });
  return outputFiles.find(({ path }) => path.endsWith(".js"))?.text ?? "";
}

/** A site with one page, which has that script. */
export function startSite(script: () => Promise<string>): Promise<string> {
  return openHttpServer((request, response) => {
    void (async () => {
      const isScript = request.url === "/page.js";
      response.writeHead(200, { "content-type": isScript ? "text/javascript" : "text/html; charset=utf-8" });
      response.end(
        isScript
          ? await script()
          : `<!doctype html><title>A shop</title><div id="root"></div><script type="module" src="/page.js"></script>`,
      );
    })();
  });
}
