import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { environmentCredentials } from '../../aws/aws-json.ts';
import { nodeTransport } from '../../aws/transport-node.ts';
import { composeGateway } from '../compose.ts';
import { logFault } from '../relay/fault-log.ts';
import { nodeUpstream } from '../upstream/upstream-node.ts';
import { gatewayRequest, type LambdaResponseStream, lambdaResponse } from './lambda-adapter.ts';
import { sendResponsesConcurrently, surviveBrokenResponses } from './managed-instances.ts';
import { warmUp } from './warm-up.ts';

const { AWS_LAMBDA_MAX_CONCURRENCY, AWS_LAMBDA_RUNTIME_API = '' } = process.env;
if (AWS_LAMBDA_MAX_CONCURRENCY !== undefined) {
  sendResponsesConcurrently(AWS_LAMBDA_RUNTIME_API);
  surviveBrokenResponses();
}

const { gateway, parts } = composeGateway(process.env, environmentCredentials(process.env), {
  upstream: nodeUpstream,
  aws: nodeTransport,
  // At once: a process that handles one request at a time does nothing else until that is done, and every millisecond is paid for.
  afterResponse: (work) => work(),
});
// A first request may come before it is done, and does not wait for it.
void warmUp(process.env).catch((error: unknown) => logFault('not-assigned', error));

/**
 * The gateway behind API Gateway (REST, response streaming). On Lambda it handles one request at a time, and the process may freeze
 * between two. On Lambda Managed Instances each thread of the process handles many at once and never freezes.
 */
export const handler = awslambda.streamifyResponse(
  async (event: APIGatewayProxyEvent, stream: LambdaResponseStream, context: Context) => {
    parts.upstream.dropIdleConnections();
    const { client, isInterrupted, requestId } = lambdaResponse(stream);
    await gateway(gatewayRequest(event), client);
    // The one line that joins our id with those of API Gateway and Lambda.
    const ids = {
      requestId: requestId(),
      apiRequestId: event.requestContext.requestId,
      lambdaRequestId: context.awsRequestId,
    };
    if (ids.requestId !== undefined) process.stdout.write(`${JSON.stringify(ids)}\n`);
    // An error makes the platform interrupt the client's connection instead of ending the response.
    if (isInterrupted())
      throw new Error('The provider interrupted its response; the client sees an interrupted response, too.');
  },
);
