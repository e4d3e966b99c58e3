import {
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import { packageVersion } from '../../shared/runtime/version.ts';

/** Describes this server to a receiver. OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override the defaults. */
export function serverResource(instance: string): Resource {
  return resourceFromAttributes({
    'service.name': 'a2a-server',
    'service.version': packageVersion(),
    'service.instance.id': instance,
  }).merge(detectResources({ detectors: [envDetector] }));
}
