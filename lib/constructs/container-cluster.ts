import { join } from 'node:path';
import type { Duration } from 'aws-cdk-lib';
import type { Certificate } from 'aws-cdk-lib/aws-certificatemanager';
import { type ISecurityGroup, Peer, Port, SecurityGroup } from 'aws-cdk-lib/aws-ec2';
import { Platform } from 'aws-cdk-lib/aws-ecr-assets';
import { Cluster, ContainerImage, ContainerInsights } from 'aws-cdk-lib/aws-ecs';
import {
  type ApplicationListener,
  ApplicationLoadBalancer,
  ApplicationProtocol,
  ListenerAction,
  SslPolicy,
  XffHeaderProcessingMode,
} from 'aws-cdk-lib/aws-elasticloadbalancingv2';
import { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import type { Firewall } from './firewall.ts';
import type { PublicNetwork } from './public-network.ts';

const ROOT = join(import.meta.dirname, '../..');

export interface ContainerClusterProps {
  readonly network: PublicNetwork;
  /** Relative to the root of the repository, which is the image's context: .dockerignore says what of it is sent. */
  readonly dockerfile: string;
  readonly certificate: Certificate;
  /** Longer than a target may be silent: the load balancer would break the connection without an error. */
  readonly idleTimeout: Duration;
  /** Response to a host that no service has. */
  readonly unknownHost: { readonly status: number; readonly body: string };
  readonly firewall: Firewall | undefined;
}

/** Where services of containers run: a load balancer that ends TLS, and one image. Tasks take connections of the load balancer alone. */
export class ContainerCluster extends Construct {
  readonly cluster: Cluster;
  readonly loadBalancer: ApplicationLoadBalancer;
  readonly listener: ApplicationListener;
  readonly image: ContainerImage;
  readonly idleTimeout: Duration;
  readonly network: PublicNetwork;

  constructor(scope: Construct, id: string, props: ContainerClusterProps) {
    super(scope, id);
    this.idleTimeout = props.idleTimeout;
    this.network = props.network;
    const { vpc } = props.network;
    // The casts: aws-cdk-lib's classes and interfaces differ under exactOptionalPropertyTypes.
    this.cluster = new Cluster(this, 'Cluster', {
      vpc,
      containerInsightsV2: ContainerInsights.DISABLED,
    });
    this.image = ContainerImage.fromAsset(ROOT, { file: props.dockerfile, platform: Platform.LINUX_ARM64 });

    const securityGroup = new SecurityGroup(this, 'Clients', {
      vpc,
      description: 'Clients to the load balancer',
      allowAllOutbound: false,
    });
    securityGroup.addIngressRule(Peer.anyIpv4(), Port.tcp(443), 'HTTPS from anywhere');
    this.loadBalancer = new ApplicationLoadBalancer(this, 'LoadBalancer', {
      vpc,
      internetFacing: true,
      securityGroup: securityGroup as ISecurityGroup,
      idleTimeout: props.idleTimeout,
      preserveHostHeader: true,
      xffHeaderProcessingMode: XffHeaderProcessingMode.PRESERVE,
      // Requests flow on when the firewall cannot be asked.
      wafFailOpen: true,
    });
    // No listener at port 80: a client that speaks HTTP would send its keys before it could be redirected.
    this.listener = this.loadBalancer.addListener('Https', {
      port: 443,
      protocol: ApplicationProtocol.HTTPS,
      certificates: [props.certificate],
      sslPolicy: SslPolicy.RECOMMENDED_TLS,
      open: false,
      defaultAction: ListenerAction.fixedResponse(props.unknownHost.status, {
        contentType: 'application/json',
        messageBody: props.unknownHost.body,
      }),
    });
    props.firewall?.protect(this, this.loadBalancer.loadBalancerArn);

    acknowledge(this.cluster, {
      ECS4: 'Container Insights bills every task by metric. Alarms read the metrics of service, load balancer and gateway.',
    });
    acknowledge(securityGroup, {
      EC23: 'The gateway is a public service: its clients are anywhere, and the firewall stands before them.',
    });
    acknowledge(this.loadBalancer, {
      ELB2: 'Access logs hold paths and query strings, which carry service keys and credentials of providers, and cannot leave them out. Each request has a record in the table.',
    });
  }
}
