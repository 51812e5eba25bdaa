import type { APIGatewayProxyEvent, Context } from 'aws-lambda';
import { environmentCredentials } from '../aws/aws-json.ts';
import { nodeTransport } from '../aws/transport-node.ts';
import { composeGateway } from '../compose.ts';
import { logFault } from '../relay/fault-log.ts';
import { nodeUpstream } from '../upstream/upstream-node.ts';
import { gatewayRequest, type LambdaResponseStream, lambdaResponse } from './lambda-adapter.ts';
import { warmUp } from './warm-up.ts';

const { gateway } = composeGateway(process.env, environmentCredentials(process.env), {
  upstream: nodeUpstream,
  aws: nodeTransport,
  // At once: a process that handles one request at a time does nothing else until that is done, and every millisecond is paid for.
  afterResponse: (work) => work(),
});
// A first request may come before it is done, and does not wait for it.
void warmUp(process.env).catch((error: unknown) => logFault('not-assigned', error));

/**
 * The gateway behind API Gateway (REST, response streaming). The process handles one request at a time, and may freeze between two.
 */
export const handler = awslambda.streamifyResponse(
  async (event: APIGatewayProxyEvent, stream: LambdaResponseStream, context: Context) => {
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
