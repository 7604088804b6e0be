// For src/visitors/, src/stores/steps/users/, src/domain/people/identify.ts
import { redis } from "../scenarios/houses.ts";
import { describeIdentity } from "./describe-identity.ts";

describeIdentity(redis);
