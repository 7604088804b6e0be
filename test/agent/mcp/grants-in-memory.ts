import type { Grants } from "../../../src/agent/mcp/sign-in/visitor-oauth.ts";

/** Of one channel whose users are all there. */
export function grantsInMemory(): () => Grants {
  const grants = new Map<string, string>();
  const signIns = new Map<string, { userId: string; text: string }>();
  const channel: Grants = {
    read: async (userId, server) => grants.get(`${userId} ${server}`) ?? null,
    async keep(userId, server, text) {
      if (text === null) grants.delete(`${userId} ${server}`);
      else grants.set(`${userId} ${server}`, text);
      return true;
    },
    async keepSignIn({ userId, stateHash, text }) {
      signIns.set(stateHash, { userId, text });
      return true;
    },
    hasSignIn: async (stateHash) => signIns.has(stateHash),
    async takeSignIn(stateHash) {
      const taken = signIns.get(stateHash) ?? null;
      signIns.delete(stateHash);
      return taken;
    },
  };
  return () => channel;
}
