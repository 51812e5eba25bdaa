import { LOCAL_REGION } from '../../emulators/cognito.ts';
import type { LambdaFunction } from './functions.ts';

/** A function's variables, those Lambda itself sets, and those that lead every AWS client to the emulators. */
export const runtimeEnvironment = (
  lambda: LambdaFunction,
  endpoints: Readonly<Record<string, string>>,
): Record<string, string> => ({
  ...lambda.environment,
  AWS_REGION: LOCAL_REGION,
  AWS_DEFAULT_REGION: LOCAL_REGION,
  // Says in an emulator's log which function asked: emulators check the secret alone.
  AWS_ACCESS_KEY_ID: lambda.name,
  AWS_LAMBDA_FUNCTION_NAME: lambda.name,
  AWS_LAMBDA_FUNCTION_VERSION: '$LATEST',
  AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(lambda.memoryMb),
  AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${lambda.name}`,
  AWS_LAMBDA_LOG_STREAM_NAME: 'local',
  AWS_LAMBDA_INITIALIZATION_TYPE: 'on-demand',
  AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x',
  LAMBDA_TASK_ROOT: '/var/task',
  TZ: ':UTC',
  ...endpoints,
});
