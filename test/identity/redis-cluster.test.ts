import { redisCluster } from "../scenarios/houses.ts";
import { describeIdentity } from "./describe-identity.ts";

describeIdentity(redisCluster);
