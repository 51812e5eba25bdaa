import { Stack, Token, Validations } from 'aws-cdk-lib';
import {
  GatewayVpcEndpointAwsService,
  IpAddresses,
  type ISecurityGroup,
  type IVpc,
  Peer,
  Port,
  SecurityGroup,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';

/**
 * Public subnets without NAT, which would bill every byte to and from providers. What runs here has public addresses, and security groups
 * that take no connections from outside. Providers, SQS, Secrets Manager and logs are reached at their public endpoints, by TLS: endpoints
 * inside the network would cost $7 a month for each service and zone.
 */
export class PublicNetwork extends Construct {
  readonly vpc: IVpc;

  constructor(scope: Construct, id: string) {
    super(scope, id);
    const vpc = new Vpc(this, 'Vpc', {
      ipAddresses: IpAddresses.cidr('10.0.0.0/16'),
      maxAzs: Stack.of(this).availabilityZones.length,
      natGateways: 0,
      subnetConfiguration: [{ name: 'Public', subnetType: SubnetType.PUBLIC, cidrMask: 20 }],
      // Calls to the table stay inside AWS, at no charge.
      gatewayEndpoints: { Table: { service: GatewayVpcEndpointAwsService.DYNAMODB } },
    });
    acknowledge(vpc, {
      VPC7: 'Flow logs bill every connection, and say no more than the security groups do: clients reach the load balancer, and the load balancer reaches tasks.',
    });
    if (!Token.isUnresolved(Stack.of(this).availabilityZones[0]))
      Validations.of(vpc).acknowledge({
        id: 'CloudFormation-Validate::W3010',
        reason: 'gateway.availabilityZones names zones on purpose: some lack what the stage needs.',
      });
    // The cast: aws-cdk-lib's classes and interfaces differ under exactOptionalPropertyTypes.
    this.vpc = vpc as IVpc;
  }

  /** The group of the gateway's tasks: it opens connections to providers and AWS, and takes only connections that are allowed later. */
  outboundGroup(scope: Construct, id: string, description: string, ports: ReadonlySet<number>): ISecurityGroup {
    const group = new SecurityGroup(scope, id, { vpc: this.vpc, description, allowAllOutbound: false });
    for (const port of ports) group.addEgressRule(Peer.anyIpv4(), Port.tcp(port), 'Providers and AWS');
    return group as ISecurityGroup;
  }
}

/** Providers are at 443; own hosts, and those of a test stage, may be elsewhere. AWS's endpoints are at 443, too. */
export const upstreamPorts = (origins: readonly string[]): ReadonlySet<number> =>
  new Set([
    443,
    ...origins.map((origin) => {
      const { port, protocol } = new URL(origin);
      return port === '' ? (protocol === 'http:' ? 80 : 443) : Number(port);
    }),
  ]);
