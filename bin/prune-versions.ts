import {
  DeleteFunctionCommand,
  GetAliasCommand,
  LambdaClient,
  paginateListVersionsByFunction,
} from '@aws-sdk/client-lambda';

/** Versions to go back to, apart from those in use. */
const KEPT_VERSIONS = 5;
const ALIAS = 'live';

/** The versions that get requests: two while a release is shifted. */
const versionsInUse = async (lambda: LambdaClient, functionName: string): Promise<Set<string>> => {
  const alias = await lambda.send(new GetAliasCommand({ FunctionName: functionName, Name: ALIAS }));
  const shifted = Object.keys(alias.RoutingConfig?.AdditionalVersionWeights ?? {});
  return new Set([alias.FunctionVersion ?? '', ...shifted]);
};

const pruneFunction = async (lambda: LambdaClient, functionName: string): Promise<number> => {
  const numbers: number[] = [];
  for await (const { Versions = [] } of paginateListVersionsByFunction(
    { client: lambda },
    { FunctionName: functionName },
  )) {
    numbers.push(...Versions.map(({ Version }) => Number(Version)).filter(Number.isInteger));
  }
  const inUse = await versionsInUse(lambda, functionName);
  const old = numbers
    .sort((a, b) => b - a)
    .filter((version) => !inUse.has(String(version)))
    .slice(KEPT_VERSIONS);
  for (const version of old)
    await lambda.send(new DeleteFunctionCommand({ FunctionName: functionName, Qualifier: String(version) }));
  return old.length;
};

/**
 * Deletes old versions of functions. Those that the alias `live` points at stay, and five more: no stream is on an older one,
 * as a request takes 15 minutes at most.
 *
 * @returns how many were deleted
 */
export const pruneVersions = async (region: string, functionNames: readonly string[]): Promise<number> => {
  const lambda = new LambdaClient({ region, maxAttempts: 3 });
  try {
    let deleted = 0;
    for (const functionName of functionNames) deleted += await pruneFunction(lambda, functionName);
    return deleted;
  } finally {
    lambda.destroy();
  }
};
