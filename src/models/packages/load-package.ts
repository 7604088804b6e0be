import { pathToFileURL } from "node:url";
import { messageOf } from "../../errors.ts";
import { fileOfPackage } from "../../owners-package.ts";
import { isRecord } from "../../is-record.ts";
import { VERSIONS } from "./language-model.ts";
import type { LanguageModel } from "./language-model.ts";

export interface PackageOptions {
  /** The package's name, such as `@ai-sdk/anthropic`. */
  package: string;
  /** The export that makes a provider; absent: the only one that does. */
  create?: string;
  /** What it is given. */
  settings: Record<string, unknown>;
}

/** A model of the package's provider, by the provider's name for it. */
export type ModelOf = (model: string) => LanguageModel;

/** Of an embeddings model, what is asked of it: the same in all versions of the interface. */
export interface EmbeddingModel {
  maxEmbeddingsPerCall?: unknown;
  doEmbed(options: { values: string[]; abortSignal: AbortSignal }): PromiseLike<{ embeddings: number[][] }>;
}

export interface PackageModels {
  modelOf: ModelOf;
  /** null: the provider has no such model. */
  embeddingModelOf: (model: string) => EmbeddingModel | null;
}

/**
 * Loads a provider package of the AI SDK, which its owner has installed beside the service or in the working directory.
 * Throws an Error whose message is one line, with what to type.
 */
export async function loadPackage(options: PackageOptions): Promise<PackageModels> {
  const { package: name, create } = options;
  const file = fileOfPackage(name);
  if (file === null) throw new Error(`needs the package ${name}: npm install ${name}`);
  const exported: unknown = await import(pathToFileURL(file).href).catch((error: unknown) => {
    throw new Error(`cannot load ${name} (${messageOf(error)}): npm install ${name}@latest`);
  });
  const creators = isRecord(exported)
    ? Object.entries(exported).filter(([key]) =>
        create === undefined ? /^create[A-Z]/.test(key) : key === create,
      )
    : [];
  for (const [, creator] of creators) {
    const models = modelsOf(creator, options.settings);
    if (models !== null) return models;
  }
  const what = create === undefined ? "no create… of a language model provider" : `no provider as ${create}`;
  throw new Error(
    `finds in the package ${name} ${what} of the AI SDK (${VERSIONS.join(", ")}): npm install ${name}@latest`,
  );
}

/** Making a model asks nobody: a name that no server has shows whether models of a known version come out. */
const ANY_MODEL = "any";

function modelsOf(creator: unknown, settings: Record<string, unknown>): PackageModels | null {
  if (typeof creator !== "function") return null;
  const provider: unknown = attempt(() => creator(settings) as unknown);
  const modelOf = (model: string): unknown => {
    const languageModel = methodOf(provider, "languageModel");
    if (languageModel) return languageModel(model);
    return typeof provider === "function" ? (provider(model) as unknown) : undefined;
  };
  if (!isLanguageModel(attempt(() => modelOf(ANY_MODEL)))) return null;
  return {
    modelOf(model) {
      const made = modelOf(model);
      if (!isLanguageModel(made)) throw new Error(`Cannot make the model ${model}`);
      return made;
    },
    embeddingModelOf(model) {
      const make = methodOf(provider, "embeddingModel") ?? methodOf(provider, "textEmbeddingModel");
      const made = attempt(() => make?.(model));
      return isEmbeddingModel(made) ? made : null;
    },
  };
}

function isEmbeddingModel(value: unknown): value is EmbeddingModel {
  return typeof value === "object" && value !== null && typeof Reflect.get(value, "doEmbed") === "function";
}

function methodOf(value: unknown, name: string): ((argument: string) => unknown) | null {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return null;
  const method: unknown = Reflect.get(value, name);
  return typeof method === "function" ? (argument) => method.call(value, argument) as unknown : null;
}

/** undefined: it threw. */
function attempt(work: () => unknown): unknown {
  try {
    return work();
  } catch {
    return undefined;
  }
}

function isLanguageModel(value: unknown): value is LanguageModel {
  if (typeof value !== "object" || value === null) return false;
  const { specificationVersion, doStream } = value as Record<string, unknown>;
  return VERSIONS.some((version) => version === specificationVersion) && typeof doStream === "function";
}
