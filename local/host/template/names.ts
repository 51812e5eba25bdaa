import { createHash } from 'node:crypto';
import { LOCAL_REGION } from '../../emulators/cognito.ts';
import type { Resource } from './assembly.ts';

/** The account everything local belongs to; also fauxqs's. */
export const LOCAL_ACCOUNT = '000000000000';

const arn = (service: string, rest: string): string => `arn:aws:${service}:${LOCAL_REGION}:${LOCAL_ACCOUNT}:${rest}`;

const hash = (resource: Resource, characters: number): string =>
  createHash('sha256').update(`${resource.stack.localName}/${resource.logicalId}`).digest('hex').slice(0, characters);

interface Names {
  /** Value of `Ref`. */
  readonly ref: string;
  /** Values of `Fn::GetAtt`. */
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * The values of references to a resource here. The same in every run, so that data finds its place again. No template gives a resource a
 * name of its own that anything here would look for.
 *
 * @param sqsEndpoint part of every queue URL
 */
export const namesOf = (resource: Resource, sqsEndpoint: string): Names => {
  const name = `${resource.stack.localName}-${resource.logicalId}`.slice(0, 80);
  switch (resource.type) {
    case 'AWS::DynamoDB::Table':
      return { ref: name, attributes: { Arn: arn('dynamodb', `table/${name}`), TableId: name } };
    case 'AWS::SQS::Queue': {
      const url = `${sqsEndpoint}/${LOCAL_ACCOUNT}/${name}`;
      return { ref: url, attributes: { Arn: arn('sqs', name), QueueName: name, QueueUrl: url } };
    }
    case 'AWS::Cognito::UserPool': {
      const id = `${LOCAL_REGION}_${hash(resource, 9)}`;
      const host = `cognito-idp.${LOCAL_REGION}.amazonaws.com`;
      return {
        ref: id,
        attributes: {
          Arn: arn('cognito-idp', `userpool/${id}`),
          UserPoolId: id,
          ProviderName: `${host}/${id}`,
          ProviderURL: `https://${host}/${id}`,
        },
      };
    }
    case 'AWS::Cognito::UserPoolClient': {
      const id = hash(resource, 26);
      return { ref: id, attributes: { ClientId: id } };
    }
    case 'AWS::Lambda::Function': {
      const short = name.slice(0, 64);
      return { ref: short, attributes: { Arn: arn('lambda', `function:${short}`) } };
    }
    case 'AWS::SecretsManager::Secret': {
      const id = arn('secretsmanager', `secret:${name}-${hash(resource, 6)}`);
      return { ref: id, attributes: { Id: id } };
    }
    case 'AWS::S3::Bucket': {
      // Names of buckets are in lower case.
      const bucket = name.toLowerCase().slice(0, 63);
      return { ref: bucket, attributes: { Arn: `arn:aws:s3:::${bucket}` } };
    }
    case 'AWS::ApiGateway::RestApi': {
      const id = hash(resource, 10);
      return { ref: id, attributes: { RestApiId: id } };
    }
    default:
      return { ref: name, attributes: { Arn: arn('local', name) } };
  }
};
