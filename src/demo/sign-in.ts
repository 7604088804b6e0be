import { z } from "zod";

/** The one account of the demo shop. */
const ACCOUNT = { id: "customer-1", name: "Ada" };

const SignIn = z.object({ visitorToken: z.string().min(1) });

/**
 * The part of a shop's backend when a visitor signs in: it tells the service, with the channel's secret key, which account
 * the visitor's token belongs to (the spec, identify). Returns the account, or the status of a refusal.
 */
export async function signIn(
  body: unknown,
  service: { serviceUrl: string; secretKey: string; slug: string },
): Promise<{ status: number; account: { name: string; merged: boolean } | null }> {
  const parsed = SignIn.safeParse(body);
  if (!parsed.success) return { status: 422, account: null };
  const response = await fetch(`${service.serviceUrl}/v1/channels/${service.slug}/identify`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.secretKey}`, "content-type": "application/json" },
    body: JSON.stringify({ visitorToken: parsed.data.visitorToken, externalUserId: ACCOUNT.id }),
    signal: AbortSignal.timeout(5_000),
  });
  if (!response.ok) return { status: response.status, account: null };
  const { merged } = z.object({ merged: z.boolean() }).parse(await response.json());
  return { status: 200, account: { name: ACCOUNT.name, merged } };
}
