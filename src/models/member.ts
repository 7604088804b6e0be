/** A model at a provider. */
export interface Member {
  provider: string;
  /** The provider's own name for it. */
  model: string;
}

/** PROVIDER/MODEL */
export function nameOf({ provider, model }: Member): string {
  return `${provider}/${model}`;
}
