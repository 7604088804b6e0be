import { z } from "zod";

const amount = z.number().min(0).max(1_000_000);

/** What a million tokens cost, by PROVIDER/MODEL: in PROVIDERS_FILE, and in the file of `chat-agent replay --prices`. */
export const pricesSchema = z.strictObject({
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, "must be a currency's three letters: USD, EUR")
    .default("USD"),
  perMillionTokens: z.record(z.string().min(1), z.strictObject({ input: amount, output: amount })),
});
