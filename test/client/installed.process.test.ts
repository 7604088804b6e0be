// For package.json, src/client/
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "esbuild";
import { beforeAll, describe, expect, test } from "vitest";
import { emptyFolder, temporaryFolder } from "../support/stores/data-dir.ts";
import { unpackPackage } from "../support/installed-package.ts";
import { startTestService, TEST_KEY } from "../support/servers/service.ts";
import { CLIENT_USE, ELEMENT_USE, REACT_USE, VUE_MISUSES, VUE_USE } from "./package-uses.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));
const tsc = join(dirname(createRequire(import.meta.url).resolve("typescript/package.json")), "bin/tsc");
const run = promisify(execFile);

/** A program's folder with what `npm pack` made in it, and no other package. */
function installed(): string {
  const folder = emptyFolder();
  mkdirSync(join(folder, "node_modules"));
  renameSync(unpackPackage(folder), join(folder, "node_modules/chat-agent-service"));
  rmSync(join(folder, "node_modules/chat-agent-service/node_modules"));
  writeFileSync(join(folder, "package.json"), '{"type":"module"}');
  return folder;
}

/** What the compiler says of files. Declarations of packages are judged too. */
async function compiled(folder: string, files: string[], moduleResolution: string): Promise<string> {
  const module = moduleResolution === "node16" ? "node16" : "esnext";
  const how = [
    "--noEmit",
    "--strict",
    "--preserveSymlinks",
    "--jsx",
    "react-jsx",
    "--typeRoots",
    join(folder, "none"),
  ];
  const target = ["--target", "es2022", "--lib", "es2023,dom,dom.iterable"];
  const resolution = ["--module", module, "--moduleResolution", moduleResolution];
  const args = [tsc, ...how, ...target, ...resolution, ...files];
  const { stdout } = await run(process.execPath, args, { cwd: folder }).catch(
    (error: { stdout: string }) => error,
  );
  return stdout;
}

describe("the package, installed elsewhere", () => {
  let folder = "";
  beforeAll(() => (folder = installed()));

  test.each(["node16", "bundler"])(
    "gives the types of the client and of the element (%s)",
    async (resolution) => {
      writeFileSync(join(folder, "client.ts"), CLIENT_USE);
      writeFileSync(join(folder, "element.ts"), ELEMENT_USE);
      expect(await compiled(folder, ["client.ts", "element.ts"], resolution)).toBe("");
    },
  );

  test("has an example in its types that compiles", async () => {
    const types = readFileSync(
      join(folder, "node_modules/chat-agent-service/dist/src/client/client.d.ts"),
      "utf8",
    );
    const example = /```ts\n(.*?) \* ```/s.exec(types)?.[1]?.replaceAll(/^ \* /gm, "") ?? "";
    expect(example).toContain("createClient");
    const node =
      "declare const process: { env: Record<string, string | undefined>; stdout: { write(text: string): void } };";
    const from = 'import { createClient } from "chat-agent-service/client";';
    writeFileSync(join(folder, "typed.ts"), [from, node, example].join("\n"));
    expect(await compiled(folder, ["typed.ts"], "bundler")).toBe("");
  });

  test("gives React 19 the element", async () => {
    const page = join(temporaryFolder(), "page");
    mkdirSync(join(page, "node_modules"), { recursive: true });
    writeFileSync(join(page, "package.json"), '{"type":"module"}');
    const packages = { "chat-agent-service": folder, "@types": root, csstype: root };
    for (const [name, from] of Object.entries(packages))
      symlinkSync(join(from, "node_modules", name), join(page, "node_modules", name));
    writeFileSync(join(page, "page.tsx"), REACT_USE);
    expect(await compiled(page, ["page.tsx"], "bundler")).toBe("");
  });

  test("runs: the README's example, and the element where there is no browser and in a bundle", async () => {
    const readme = readFileSync(join(root, "src/client/README.md"), "utf8");
    writeFileSync(join(folder, "example.js"), /^```js\n(.*?)^```/ms.exec(readme)?.[1] ?? "");
    const service = await startTestService();
    const env = { BASE: service.url, KEY: TEST_KEY };
    const { stdout } = await run(process.execPath, ["example.js"], { cwd: folder, env });
    expect(stdout).toContain("type: 'done'");

    const script = 'import { ChatAgent } from "chat-agent-service/element"; console.log(typeof ChatAgent);';
    writeFileSync(join(folder, "element.js"), script);
    expect((await run(process.execPath, ["element.js"], { cwd: folder })).stdout).toBe("function\n");
    const bundle = await build({
      stdin: { contents: 'import "chat-agent-service/element";', resolveDir: folder },
      bundle: true,
      write: false,
      format: "esm",
      platform: "browser",
    });
    expect(bundle.outputFiles[0]?.text).toContain('customElements.define("chat-agent"');
  });

  // Installs packages, and takes half a minute.
  test.runIf(process.env["TYPES"] === "full")(
    "gives Vue 3 the element, and TypeScript 5 all of it",
    async () => {
      const page = temporaryFolder();
      writeFileSync(join(page, "package.json"), '{"type":"module","private":true}');
      const packages = ["vue@3", "vue-tsc@3", "typescript@5.9"];
      execFileSync("npm", ["install", "--no-audit", "--no-fund", ...packages], {
        cwd: page,
        stdio: "ignore",
      });
      symlinkSync(
        join(folder, "node_modules/chat-agent-service"),
        join(page, "node_modules/chat-agent-service"),
      );
      writeFileSync(join(page, "element.ts"), ELEMENT_USE);
      for (const [nth, use] of [VUE_USE, ...VUE_MISUSES].entries())
        writeFileSync(join(page, `Use${nth}.vue`), use);
      const tsconfig = {
        compilerOptions: {
          strict: true,
          noEmit: true,
          module: "esnext",
          moduleResolution: "bundler",
          target: "es2022",
          lib: ["es2023", "dom", "dom.iterable"],
          types: [],
          preserveSymlinks: true,
        },
        vueCompilerOptions: { strictTemplates: true },
        include: ["*.ts", "*.vue"],
      };
      writeFileSync(join(page, "tsconfig.json"), JSON.stringify(tsconfig));
      const checker = join(page, "node_modules/vue-tsc/bin/vue-tsc.js");
      const { stdout } = await run(process.execPath, [checker, "-p", "."], { cwd: page }).catch(
        (error: { stdout: string }) => error,
      );
      expect(stdout).toBe("");
    },
  );
});
