import { redis } from "../scenarios/houses.ts";
import { describeIdentity } from "./describe-identity.ts";

describeIdentity(redis);
