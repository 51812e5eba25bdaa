import type { APIGatewayProxyEvent } from 'aws-lambda';
import { environmentCredentials } from '../aws/aws-json.ts';
import { nodeTransport } from '../aws/transport-node.ts';
import { composeGateway } from '../compose.ts';
import { nodeUpstream } from '../upstream/upstream-node.ts';
import { gatewayRequest, type LambdaResponseStream, lambdaResponse } from './lambda-adapter.ts';

const { gateway, upstream } = composeGateway(process.env, environmentCredentials(process.env), {
  upstream: nodeUpstream,
  aws: nodeTransport,
});

/** The gateway behind API Gateway (REST, response streaming). Handles one request at a time; the process may freeze between two. */
export const handler = awslambda.streamifyResponse(
  async (event: APIGatewayProxyEvent, stream: LambdaResponseStream) => {
    upstream.dropIdleConnections();
    const { client, isInterrupted } = lambdaResponse(stream);
    await gateway(gatewayRequest(event), client);
    // An error makes the platform interrupt the client's connection instead of ending the response.
    if (isInterrupted())
      throw new Error('The provider interrupted its response; the client sees an interrupted response, too.');
  },
);
