{{- define "mpsd.selector" -}}
app.kubernetes.io/name: mpsd
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "mpsd.metadata" -}}
name: {{ .Release.Name }}
labels:
  {{- include "mpsd.selector" . | nindent 2 }}
  app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end }}

{{- /* The config that a pod reads, as JSON. */ -}}
{{- define "mpsd.config" -}}
{{- $limits := .Values.config.limits | default dict -}}
{{- range list "lame_duck" "drain_timeout" -}}
{{- if hasKey $limits . -}}
{{- fail (printf "limits.%s comes from the value stop, with which the time to stop fits" .) -}}
{{- end -}}
{{- end -}}
{{- $listen := dict "grpc" (list "0.0.0.0:8001") "http" (list "0.0.0.0:8000" "0.0.0.0:8002")
    "control" "unix:/tmp/mpsd/control.sock" "plaintext" true -}}
{{- $stop := dict "lame_duck" (printf "%ds" (int .Values.stop.lameDuckSeconds))
    "drain_timeout" (printf "%ds" (int .Values.stop.drainSeconds)) -}}
{{- mergeOverwrite (dict "listen" $listen "limits" $stop) (deepCopy .Values.config) | toPrettyJson -}}
{{- end }}
